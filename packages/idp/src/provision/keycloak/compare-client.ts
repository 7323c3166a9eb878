/**
 * Where a client at a Keycloak is not as it should be. Pure.
 *
 * @module
 */

import type { FieldChange } from '../planned-step.ts';
import { type FoundClient, type Members, textOf, textsOf } from './representations.ts';
import type { ClientWish, MapperWish } from './wishes.ts';

/** How a client has a client scope: in every token, on request, or not. */
export type ScopeLink = 'default' | 'optional' | '';

/** One scope that is not linked as it should be. */
export interface LinkChange {
  readonly scope: string;
  readonly found: ScopeLink;
  readonly wanted: ScopeLink;
}

/** How a client differs. Every list is empty where it does not. */
export interface ClientDifference {
  readonly members: readonly FieldChange[];
  readonly mapper: readonly FieldChange[];
  readonly links: readonly LinkChange[];
}

/**
 * Compares what is managed; every other member, attribute, mapper and scope may be anything.
 *
 * @param found - Absent where there is no such client; then everything differs.
 */
export function compareClient(found: FoundClient | undefined, wish: ClientWish): ClientDifference {
  const members = Object.entries(wish.members).map(([name, wanted]) => ({
    field: name,
    found: show(found?.members[name]),
    wanted: show(wanted),
  }));
  const attributes = Object.entries(wish.attributes).map(([name, wanted]) => ({
    field: `attributes.${name}`,
    found: found?.attributes[name] ?? '',
    wanted,
  }));
  return {
    members: [...members, ...attributes].filter(isDifferent),
    mapper: compareMapper(findMapper(found, wish.mapper), wish.mapper),
    links: compareLinks(found, wish),
  };
}

function compareLinks(
  found: FoundClient | undefined,
  { defaults, linked, unlinked }: ClientWish,
): readonly LinkChange[] {
  const linkOf = (scope: string): ScopeLink => {
    if (found?.defaultScopes.includes(scope) === true) return 'default';
    return found?.optionalScopes.includes(scope) === true ? 'optional' : '';
  };
  const changes = (
    scopes: readonly string[],
    wanted: ScopeLink,
    isRight: (link: ScopeLink) => boolean,
  ): readonly LinkChange[] =>
    scopes
      .map((scope) => ({ scope, found: linkOf(scope), wanted }))
      .filter((link) => !isRight(link.found));
  return [
    ...changes(defaults, 'default', (link) => link === 'default'),
    ...changes(linked, 'optional', (link) => link !== ''),
    ...changes(unlinked, '', (link) => link === ''),
  ];
}

/** The mapper of the setup at a client. */
export function findMapper(
  found: FoundClient | undefined,
  { name }: MapperWish,
): Members | undefined {
  return found?.mappers.find((mapper) => mapper['name'] === name);
}

/** All that differs, in the order in which people read it. */
export function listChanges({ members, mapper, links }: ClientDifference): readonly FieldChange[] {
  return [
    ...members,
    ...mapper,
    ...links.map(({ scope, found, wanted }) => ({ field: `client scope ${scope}`, found, wanted })),
  ];
}

function compareMapper(found: Members | undefined, wish: MapperWish): readonly FieldChange[] {
  const config = textsOf(found?.['config']);
  const field = (name: string): string => `mapper ${wish.name}.${name}`;
  return [
    {
      field: field('protocolMapper'),
      found: textOf(found?.['protocolMapper']),
      wanted: wish.protocolMapper,
    },
    ...Object.entries(wish.config).map(([name, wanted]) => ({
      field: field(name),
      found: config[name] ?? '',
      wanted,
    })),
  ].filter(isDifferent);
}

const isDifferent = ({ found, wanted }: FieldChange): boolean => found !== wanted;

/** Lists have no order at Keycloak. */
function show(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).toSorted().join(' ');
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : '';
}

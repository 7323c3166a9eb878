/**
 * Where a client at a Keycloak is not as it should be. Pure.
 *
 * @module
 */

import type { FieldChange } from '../planned-step.ts';
import { type FoundClient, type Members, textOf, textsOf } from './representations.ts';
import type { ClientWish, MapperWish } from './wishes.ts';

/** Scope links to make and to remove. */
export interface LinkChanges {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** How a client differs. Every list is empty where it does not. */
export interface ClientDifference {
  readonly members: readonly FieldChange[];
  readonly mapper: readonly FieldChange[];
  readonly links: LinkChanges;
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
  const linked = [...(found?.defaultScopes ?? []), ...(found?.optionalScopes ?? [])];
  return {
    members: [...members, ...attributes].filter(isDifferent),
    mapper: compareMapper(findMapper(found, wish.mapper), wish.mapper),
    links: {
      add: wish.linked.filter((scope) => !linked.includes(scope)),
      remove: wish.unlinked.filter((scope) => linked.includes(scope)),
    },
  };
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
    ...links.add.map((scope) => ({ field: `client scope ${scope}`, found: '', wanted: 'linked' })),
    ...links.remove.map((scope) => ({
      field: `client scope ${scope}`,
      found: 'linked',
      wanted: '',
    })),
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

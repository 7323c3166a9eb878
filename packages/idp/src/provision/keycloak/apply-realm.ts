/**
 * Sets a deployment up in a realm of Keycloak. What is as it should be is not written; what is not ours is not touched.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import { isPending, listenTo, NO_LISTENER, type StepListener } from '../planned-step.ts';
import { pathOf } from './admin-api.ts';
import { compareClient, findMapper } from './compare-client.ts';
import {
  type KeycloakPlan,
  type KeycloakTarget,
  planKeycloak,
  type RealmState,
  ROTATION,
  readState,
} from './plan-realm.ts';
import {
  type FoundClient,
  type FoundScope,
  readClient,
  readScopes,
  readSecret,
  textOf,
} from './representations.ts';
import type { ClientWish, RealmWishes } from './wishes.ts';

/** Attribute of the web app that remembers the realm's rotation of before. */
export const ROTATION_BEFORE_ATTRIBUTE = 'sallyport.rotation-before';

/** What a setup did, and the secrets of the applications. */
export interface AppliedKeycloak {
  readonly plan: KeycloakPlan;
  /** Secret of each confidential client, by client ID: secrets, never print them. */
  readonly secrets: ReadonlyMap<string, string>;
}

/**
 * Applies a specification. An interrupted one is continued by the next.
 *
 * @param shown - The plan that someone agreed to; absent for any.
 * @param onStep - Hears of the steps of the plan as they are carried out, of those that change nothing too. A realm whose rotation
 *   is changed is the last one done.
 * @throws {SallyportError} `SP_CONFIG_INVALID` while the plan has a problem, the administrator lacks a role, or the plan is
 *   not the one that was shown; nothing is changed then. As the admin interface otherwise.
 */
export async function applyKeycloak(
  target: KeycloakTarget,
  shown?: KeycloakPlan,
  onStep: StepListener = NO_LISTENER,
): Promise<AppliedKeycloak> {
  const { admin, realm } = target;
  let state = await readState(target);
  const plan = await planKeycloak(target, state);
  const obstacles = [...plan.problems, ...plan.lacks];
  if (obstacles.length > 0) throw refusal(obstacles.join('; '));
  if (shown !== undefined && JSON.stringify(shown) !== JSON.stringify(plan))
    throw refusal(`nothing was changed: realm ${realm} is not what the plan was made for any more`);
  const changesRealm = plan.steps.some((step) => step.kind === 'realm' && isPending(step));
  const ofRealm = { kind: 'realm', name: realm };
  if (state.realm === undefined) {
    onStep(ofRealm, 'begun');
    await admin.post('', { realm, enabled: true });
    if (!target.rotatesRefreshTokens) onStep(ofRealm, 'done');
    state = await readState(target);
  }
  // The rotation comes last. Whoever may not change the realm is to learn that before anything is made.
  else if (changesRealm) await admin.put(pathOf(realm), { realm });
  const ofScope = { kind: 'client scope', name: state.wishes.scope.name };
  await listenTo(onStep, ofScope, () => applyScope(state, target));
  const secrets = new Map<string, string>();
  for (const wish of state.wishes.clients)
    await listenTo(onStep, { kind: 'client', name: wish.clientId }, async () => {
      const found = await applyClient(state.clients.get(wish.clientId), wish, target);
      if (wish.hasSecret) secrets.set(wish.clientId, await readSecret(admin, realm, found));
    });
  if (changesRealm && target.rotatesRefreshTokens)
    await listenTo(onStep, ofRealm, () => applyRotation(state, target));
  return { plan, secrets };
}

function refusal(detail: string): SallyportError {
  return new SallyportError('SP_CONFIG_INVALID', { component: 'keycloak', detail });
}

async function applyScope(
  { wishes, scopes }: RealmState,
  { admin, realm }: KeycloakTarget,
): Promise<void> {
  const { scope } = wishes;
  const found = scopes.find(({ name }) => name === scope.name);
  if (found === undefined) {
    await admin.post(pathOf(realm, 'client-scopes'), scope);
    return;
  }
  if (!isOurs(found, wishes)) return;
  const attributes = { ...found.attributes, ...scope.attributes };
  const isSame =
    found.members['description'] === scope.description &&
    found.members['protocol'] === scope.protocol &&
    Object.entries(scope.attributes).every(([name, value]) => found.attributes[name] === value);
  if (!isSame)
    await admin.put(pathOf(realm, 'client-scopes', found.id), {
      ...found.members,
      ...scope,
      attributes,
    });
}

function isOurs({ attributes }: FoundScope, { scope }: RealmWishes): boolean {
  return Object.entries(scope.attributes)
    .slice(0, 1)
    .every(([name, owner]) => attributes[name] === owner);
}

/**
 * Brings one client into its state.
 *
 * @param before - Absent to make it.
 * @returns It, as it was found or made.
 * @throws {SallyportError} `SP_CONFIG_INVALID` when the realm has no client scope of that name. As the admin interface
 *   otherwise.
 */
export async function applyClient(
  before: FoundClient | undefined,
  wish: ClientWish,
  { admin, realm }: Pick<KeycloakTarget, 'admin' | 'realm'>,
): Promise<FoundClient> {
  const { clientId, members, attributes, mapper } = wish;
  if (before === undefined)
    await admin.post(pathOf(realm, 'clients'), {
      clientId,
      ...members,
      attributes: withoutEmpty(attributes),
      protocolMappers: [mapper],
    });
  // A new client has links that the realm gives, which a list of our own would have to know.
  const found = before ?? (await readCreated());
  const difference = compareClient(found, wish);
  const path = (...rest: readonly string[]): string => pathOf(realm, 'clients', found.id, ...rest);
  if (difference.members.length > 0) {
    // The secret stays as it is: it is in no request.
    const { secret: _, protocolMappers: __, ...rest } = found.members;
    await admin.put(path(), {
      ...rest,
      ...members,
      attributes: { ...found.attributes, ...attributes },
    });
  }
  if (difference.mapper.length > 0) {
    const id = textOf(findMapper(found, mapper)?.['id']);
    if (id === '') await admin.post(path('protocol-mappers', 'models'), mapper);
    else await admin.put(path('protocol-mappers', 'models', id), { ...mapper, id });
  }
  const scopes = difference.links.length > 0 ? await readScopes(admin, realm) : [];
  for (const link of difference.links) {
    const id = scopes.find(({ name }) => name === link.scope)?.id;
    if (id === undefined) throw missingScope(realm, link.scope);
    // A link is not changed from one kind to the other.
    if (link.found !== '') await admin.remove(path(`${link.found}-client-scopes`, id));
    if (link.wanted !== '') await admin.put(path(`${link.wanted}-client-scopes`, id));
  }
  return found;

  async function readCreated(): Promise<FoundClient> {
    const created = await readClient(admin, realm, clientId);
    if (created !== undefined) return created;
    throw new SallyportError('SP_IDP_PROTOCOL', {
      component: 'keycloak',
      detail: `client ${clientId} was created and is not there`,
    });
  }
}

/** A realm that is not set up. */
export function missingScope(realm: string, name: string): SallyportError {
  return new SallyportError('SP_CONFIG_INVALID', {
    component: 'keycloak',
    detail: `the realm ${realm} has no client scope ${name}; set it up with "sallyport idp apply"`,
  });
}

/** Changes the realm's rotation, and notes first what it was. */
async function applyRotation(
  { realm: before, wishes }: RealmState,
  { admin, realm, rotatesRefreshTokens }: KeycloakTarget,
): Promise<void> {
  const [web] = wishes.clients;
  if (!rotatesRefreshTokens || web === undefined || before === undefined) return;
  const client = await readClient(admin, realm, web.clientId);
  if (client === undefined) return;
  if (client.attributes[ROTATION_BEFORE_ATTRIBUTE] === undefined) {
    const { revokeRefreshToken, refreshTokenMaxReuse } = before;
    const { secret: _, protocolMappers: __, ...rest } = client.members;
    await admin.put(pathOf(realm, 'clients', client.id), {
      ...rest,
      attributes: {
        ...client.attributes,
        [ROTATION_BEFORE_ATTRIBUTE]: JSON.stringify({ revokeRefreshToken, refreshTokenMaxReuse }),
      },
    });
  }
  await admin.put(pathOf(realm), { realm, ...ROTATION });
}

function withoutEmpty(attributes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== ''));
}

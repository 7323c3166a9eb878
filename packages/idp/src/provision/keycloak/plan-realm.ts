/**
 * What a setup would do in a realm of Keycloak. Reads and changes nothing.
 *
 * @module
 */

import type { DeploymentSpec } from '../../spec/deployment-spec.ts';
import { type FieldChange, isPending, type PlannedStep } from '../planned-step.ts';
import { type KeycloakAdmin, pathOf } from './admin-api.ts';
import { describeLack } from './admin-roles.ts';
import { compareClient, listChanges } from './compare-client.ts';
import {
  type FoundClient,
  type FoundScope,
  type Members,
  readClient,
  readClients,
  readMayChangeClients,
  readRealm,
  readScopes,
} from './representations.ts';
import {
  BASIC_SCOPE,
  type ClientWish,
  createRealmWishes,
  OWNER_ATTRIBUTE,
  type RealmWishes,
  type ScopeWish,
} from './wishes.ts';

/** Where a deployment is set up, and how far the setup may go. */
export interface KeycloakTarget {
  readonly admin: KeycloakAdmin;
  readonly realm: string;
  readonly spec: DeploymentSpec;
  /** Whether a realm that is not there is made; a problem otherwise. */
  readonly createsRealm: boolean;
  /** Whether the realm's refresh tokens are made good for one use. It holds for every client of the realm. */
  readonly rotatesRefreshTokens: boolean;
}

/** The plan. */
export interface KeycloakPlan {
  readonly steps: readonly PlannedStep[];
  /** Sentences about what the setup does not do by itself; while there is one, nothing is done. */
  readonly problems: readonly string[];
  /**
   * Sentences about roles that the administrator lacks for the steps; while there is one, nothing is done. One who may only
   * look can plan.
   */
  readonly lacks: readonly string[];
  /** Sentences about what an operator should know. */
  readonly notes: readonly string[];
}

/** What was read of a realm for one deployment. */
export interface RealmState {
  readonly wishes: RealmWishes;
  readonly realm: Members | undefined;
  readonly scopes: readonly FoundScope[];
  /** By client ID. */
  readonly clients: ReadonlyMap<string, FoundClient>;
  /** Whether the administrator may change clients. True where there is no realm yet: who makes one has its roles. */
  readonly mayChangeClients: boolean;
}

/** Realm settings that make a refresh token good for one use. "Max reuse" is a count of further uses. */
export const ROTATION = { revokeRefreshToken: true, refreshTokenMaxReuse: 0 } as const;

/**
 * Plans, with what is left over from earlier specifications. Throws as the admin interface does.
 *
 * @param known - What was read of the realm; read when absent.
 */
export async function planKeycloak(
  target: KeycloakTarget,
  known?: RealmState,
): Promise<KeycloakPlan> {
  const state = known ?? (await readState(target));
  const plan = planRealm(state, target);
  if (state.realm === undefined) return plan;
  const planned = new Set(state.wishes.clients.map(({ clientId }) => clientId));
  const leftOver = (await readClients(target.admin, target.realm)).filter(
    ({ clientId, attributes }) =>
      attributes[OWNER_ATTRIBUTE] === state.wishes.owner &&
      attributes[API_KEY_ATTRIBUTE] === undefined &&
      !planned.has(clientId),
  );
  return {
    ...plan,
    notes: [
      ...plan.notes,
      ...leftOver.map(
        ({ clientId }) =>
          `client ${clientId} was made for this deployment and is not in this specification; "idp destroy" removes it`,
      ),
    ],
  };
}

/** Attribute of clients that stand behind API keys, with the key's owner as its value. */
export const API_KEY_ATTRIBUTE = 'sallyport.api-key';

/** Reads what a deployment concerns in a realm. */
export async function readState({ admin, realm, spec }: KeycloakTarget): Promise<RealmState> {
  const found = await readRealm(admin, realm);
  if (found === undefined)
    return {
      wishes: createRealmWishes(spec, []),
      realm: undefined,
      scopes: [],
      clients: new Map(),
      mayChangeClients: true,
    };
  const scopes = await readScopes(admin, realm);
  const wishes = createRealmWishes(
    spec,
    scopes.map(({ name }) => name),
  );
  const clients = new Map<string, FoundClient>();
  for (const { clientId } of wishes.clients) {
    const client = await readClient(admin, realm, clientId);
    if (client !== undefined) clients.set(clientId, client);
  }
  const mayChangeClients = await readMayChangeClients(admin, realm);
  return { wishes, realm: found, scopes, clients, mayChangeClients };
}

/** Plans from what was read. Pure. */
function planRealm(
  { wishes, realm, scopes, clients, mayChangeClients }: RealmState,
  { admin, realm: name, createsRealm, rotatesRefreshTokens }: Omit<KeycloakTarget, 'spec'>,
): KeycloakPlan {
  const problems: string[] = [];
  const notes: string[] = [];
  const steps: PlannedStep[] = [];
  if (realm === undefined && !createsRealm)
    problems.push(`there is no realm ${name}; create it, or give --create-realm`);
  if (realm === undefined || rotatesRefreshTokens)
    steps.push(planRealmItself(name, realm, rotatesRefreshTokens));
  if (realm !== undefined && !rotatesRefreshTokens) notes.push(describeRotation(name, realm));
  if (realm !== undefined && !scopes.some((entry) => entry.name === BASIC_SCOPE))
    notes.push(
      `realm ${name} has no client scope ${BASIC_SCOPE}; from Keycloak 25 on, no access token of a person has sub without it, and the platform refuses them`,
    );
  const scope = scopes.find((entry) => entry.name === wishes.scope.name);
  steps.push(planScope(scope, wishes, notes, problems));
  const known = new Set([...scopes.map((entry) => entry.name), wishes.scope.name]);
  for (const wish of wishes.clients) {
    const found = clients.get(wish.clientId);
    const owner = found?.attributes[OWNER_ATTRIBUTE];
    if (found !== undefined && owner !== wishes.owner) {
      const whose = owner === undefined ? 'another application' : `the deployment ${owner}`;
      problems.push(
        `client ${wish.clientId} is there already and of ${whose}; choose another client ID`,
      );
      continue;
    }
    if (realm !== undefined)
      for (const needed of wish.linked.filter((entry) => !known.has(entry)))
        problems.push(`the realm has no client scope ${needed}, which ${wish.clientId} needs`);
    steps.push(planClient(found, wish));
  }
  const isRealmVisible = realm === undefined || realm['revokeRefreshToken'] !== undefined;
  const lacks = [
    ...(rotatesRefreshTokens && !isRealmVisible ? (['view-realm'] as const) : []),
    ...(!mayChangeClients && steps.some((step) => step.kind !== 'realm' && isPending(step))
      ? (['manage-clients'] as const)
      : []),
  ].map((role) => describeLack(role, pathOf(name), admin.adminRealm));
  return { steps, problems, lacks, notes };
}

function planRealmItself(
  name: string,
  realm: Members | undefined,
  rotatesRefreshTokens: boolean,
): PlannedStep {
  const rotation = rotatesRefreshTokens ? Object.entries(ROTATION) : [];
  const fields = rotation
    .map(([field, wanted]) => ({
      field,
      found: realm?.[field] === undefined ? '' : JSON.stringify(realm[field]),
      wanted: String(wanted),
    }))
    .filter(({ found, wanted }) => found !== wanted);
  const action = realm === undefined ? 'create' : fields.length === 0 ? 'unchanged' : 'change';
  return { action, kind: 'realm', name, fields };
}

function describeRotation(name: string, realm: Members): string {
  const { revokeRefreshToken, refreshTokenMaxReuse } = realm;
  if (revokeRefreshToken === undefined)
    return `whether realm ${name} rotates refresh tokens is not known: the administrator may not view it`;
  return revokeRefreshToken === true && refreshTokenMaxReuse === 0
    ? `realm ${name} rotates refresh tokens; each is good for one use`
    : `realm ${name} does not rotate refresh tokens at each use (revokeRefreshToken ${JSON.stringify(revokeRefreshToken)}, refreshTokenMaxReuse ${JSON.stringify(refreshTokenMaxReuse)}); --rotate-refresh-tokens changes it, for every client of the realm`;
}

function planScope(
  found: FoundScope | undefined,
  { scope, owner }: RealmWishes,
  notes: string[],
  problems: string[],
): PlannedStep {
  const { name } = scope;
  const step = { kind: 'client scope', name } as const;
  if (found !== undefined && found.attributes[OWNER_ATTRIBUTE] !== owner) {
    notes.push(`client scope ${name} is there already and is used as it is`);
    if (
      found.members['protocol'] !== scope.protocol ||
      found.attributes['include.in.token.scope'] !== 'true'
    )
      problems.push(
        `client scope ${name} is of another application and not included in the token scope; switch that on, or use another realm`,
      );
    return { ...step, action: 'unchanged', fields: [] };
  }
  const fields = compareScope(found, scope);
  if (found === undefined) return { ...step, action: 'create', fields };
  return { ...step, action: fields.length === 0 ? 'unchanged' : 'change', fields };
}

/** Where a client scope of ours is not as it should be. */
function compareScope(
  found: FoundScope | undefined,
  { protocol, description, attributes }: ScopeWish,
): readonly FieldChange[] {
  const pairs: readonly (readonly [field: string, found: unknown, wanted: string])[] = [
    ['protocol', found?.members['protocol'], protocol],
    ['description', found?.members['description'], description],
    ...Object.entries(attributes).map(
      ([name, wanted]) => [`attributes.${name}`, found?.attributes[name], wanted] as const,
    ),
  ];
  return pairs
    .map(([field, value, wanted]) => ({
      field,
      found: typeof value === 'string' ? value : '',
      wanted,
    }))
    .filter((change) => change.found !== change.wanted);
}

function planClient(found: FoundClient | undefined, wish: ClientWish): PlannedStep {
  const fields = listChanges(compareClient(found, wish));
  const step = { kind: 'client', name: wish.clientId } as const;
  if (found === undefined)
    // What is off is off in a new client.
    return {
      ...step,
      action: 'create',
      fields: fields.filter(({ wanted }) => wanted !== '' && wanted !== 'false'),
    };
  return { ...step, action: fields.length === 0 ? 'unchanged' : 'change', fields };
}

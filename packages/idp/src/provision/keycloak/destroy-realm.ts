/**
 * Removes from a realm of Keycloak what setups of one deployment made, and nothing else.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import { API_SCOPE } from '../../spec/idp-spec.ts';
import {
  type FieldChange,
  listenTo,
  NO_LISTENER,
  type PlannedStep,
  type StepListener,
} from '../planned-step.ts';
import { type KeycloakAdmin, pathOf } from './admin-api.ts';
import { describeLack } from './admin-roles.ts';
import { ROTATION_BEFORE_ATTRIBUTE } from './apply-realm.ts';
import { ROTATION } from './plan-realm.ts';
import {
  type FoundClient,
  type FoundScope,
  type Members,
  readClients,
  readMayChangeClients,
  readRealm,
  readScopes,
} from './representations.ts';
import { OWNER_ATTRIBUTE } from './wishes.ts';

/** What is removed, and whose it is. */
export interface KeycloakRemoval {
  readonly admin: KeycloakAdmin;
  readonly realm: string;
  /** Public URL of the deployment: what has it as its owner is removed. */
  readonly publicUrl: string;
}

/** What would be removed. */
export interface KeycloakRemovalPlan {
  readonly steps: readonly PlannedStep[];
  /** Sentences about why nothing can be looked for; while there is one, nothing is removed. */
  readonly problems: readonly string[];
  /** Sentences about roles that the administrator lacks for the steps; while there is one, nothing is removed. */
  readonly lacks: readonly string[];
  readonly notes: readonly string[];
}

interface Removable {
  readonly plan: KeycloakRemovalPlan;
  readonly clients: readonly FoundClient[];
  readonly scope: FoundScope | undefined;
  /** Realm settings to put back. */
  readonly rotation: Members | undefined;
}

/** Finds what is ours. Changes nothing. */
export async function planRemoval(removal: KeycloakRemoval): Promise<KeycloakRemovalPlan> {
  return (await find(removal)).plan;
}

/**
 * Removes it. The realm itself stays, also one that a setup made: it may hold people by now.
 *
 * @param shown - The plan that someone agreed to; absent for any.
 * @param onStep - Hears of the steps of the plan as they are carried out.
 * @throws {SallyportError} `SP_CONFIG_INVALID` when there is no such realm, the administrator lacks a role or the plan is not the one that was
 *   shown; nothing is removed then. As the admin interface otherwise.
 */
export async function destroyKeycloak(
  removal: KeycloakRemoval,
  shown?: KeycloakRemovalPlan,
  onStep: StepListener = NO_LISTENER,
): Promise<KeycloakRemovalPlan> {
  const { admin, realm } = removal;
  const { plan, clients, scope, rotation } = await find(removal);
  const changed =
    shown === undefined || JSON.stringify(shown) === JSON.stringify(plan)
      ? []
      : [`nothing was removed: realm ${realm} is not what the plan was made for any more`];
  const obstacles = [...plan.problems, ...plan.lacks, ...changed];
  if (obstacles.length > 0)
    throw new SallyportError('SP_CONFIG_INVALID', {
      component: 'keycloak',
      detail: obstacles.join('; '),
    });
  if (rotation !== undefined)
    await listenTo(onStep, { kind: 'realm', name: realm }, () =>
      admin.put(pathOf(realm), { realm, ...rotation }),
    );
  for (const { id, clientId } of clients)
    await listenTo(onStep, { kind: 'client', name: clientId }, () =>
      admin.remove(pathOf(realm, 'clients', id)),
    );
  if (scope !== undefined)
    await listenTo(onStep, { kind: 'client scope', name: scope.name }, () =>
      admin.remove(pathOf(realm, 'client-scopes', scope.id)),
    );
  return plan;
}

async function find({ admin, realm, publicUrl }: KeycloakRemoval): Promise<Removable> {
  const found = await readRealm(admin, realm);
  if (found === undefined)
    return {
      plan: { steps: [], problems: [`there is no realm ${realm}`], lacks: [], notes: [] },
      clients: [],
      scope: undefined,
      rotation: undefined,
    };
  const all = await readClients(admin, realm);
  const isOurs = ({ attributes }: { readonly attributes: Readonly<Record<string, string>> }) =>
    attributes[OWNER_ATTRIBUTE] === publicUrl;
  const clients = all.filter(isOurs);
  const notes: string[] = [];
  const ofUs = (await readScopes(admin, realm)).find(
    (entry) => entry.name === API_SCOPE && isOurs(entry),
  );
  const users = all.filter(
    (client) =>
      !isOurs(client) && [...client.defaultScopes, ...client.optionalScopes].includes(API_SCOPE),
  );
  if (ofUs !== undefined && users.length > 0)
    notes.push(
      `client scope ${API_SCOPE} stays: ${users.map(({ clientId }) => clientId).join(', ')} can ask for it`,
    );
  const scope = users.length > 0 ? undefined : ofUs;
  const rotation = findRotation(found, clients);
  const steps: PlannedStep[] = [
    ...(rotation === undefined ? [] : [toStep(realm, found, rotation)]),
    ...clients.map(({ clientId }) => toDeletion('client', clientId)),
    ...(scope === undefined ? [] : [toDeletion('client scope', scope.name)]),
  ];
  if (steps.length === 0)
    notes.push(
      `nothing in the realm ${realm} has the attribute ${OWNER_ATTRIBUTE} with ${publicUrl}`,
    );
  const mayRemove =
    clients.length === 0 && scope === undefined ? true : await readMayChangeClients(admin, realm);
  const lacks = mayRemove ? [] : [describeLack('manage-clients', pathOf(realm), admin.adminRealm)];
  return { plan: { steps, problems: [], lacks, notes }, clients, scope, rotation };
}

/** The rotation of before, where a setup changed it and it is still what the setup made it. */
function findRotation(realm: Members, clients: readonly FoundClient[]): Members | undefined {
  const noted = clients
    .map(({ attributes }) => attributes[ROTATION_BEFORE_ATTRIBUTE])
    .find((text) => text !== undefined);
  const isAsSet = Object.entries(ROTATION).every(([name, value]) => realm[name] === value);
  if (noted === undefined || !isAsSet) return undefined;
  try {
    const { revokeRefreshToken, refreshTokenMaxReuse } = JSON.parse(noted) as Members;
    return typeof revokeRefreshToken === 'boolean' && typeof refreshTokenMaxReuse === 'number'
      ? { revokeRefreshToken, refreshTokenMaxReuse }
      : undefined;
  } catch {
    return undefined;
  }
}

function toDeletion(kind: string, name: string): PlannedStep {
  return { action: 'delete', kind, name, fields: [] };
}

function toStep(name: string, realm: Members, rotation: Members): PlannedStep {
  const fields: readonly FieldChange[] = Object.entries(rotation)
    .map(([field, value]) => ({ field, found: String(realm[field]), wanted: String(value) }))
    .filter(({ found, wanted }) => found !== wanted);
  return { action: 'change', kind: 'realm', name, fields };
}

/**
 * What Keycloak's admin interface answers, as far as a setup reads it. Untrusted: a proxy may stand between.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import { type KeycloakAdmin, pathOf } from './admin-api.ts';

/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/** A client. `members` may hold its secret: never print the value as a whole. */
export interface FoundClient {
  readonly id: string;
  readonly clientId: string;
  readonly members: Members;
  readonly attributes: Readonly<Record<string, string>>;
  readonly mappers: readonly Members[];
  readonly defaultScopes: readonly string[];
  readonly optionalScopes: readonly string[];
}

/** A client scope. */
export interface FoundScope {
  readonly id: string;
  readonly name: string;
  readonly members: Members;
  readonly attributes: Readonly<Record<string, string>>;
}

const CLIENTS_A_PAGE = 100;
/** A realm of more clients is not listed to its end. */
const PAGES_MAX = 1_000;

/** Reads a realm; undefined where there is none. */
export async function readRealm(admin: KeycloakAdmin, realm: string): Promise<Members | undefined> {
  const found = await admin.get(pathOf(realm));
  return found === undefined ? undefined : toMembers(found);
}

/** Reads the client with this client ID. */
export async function readClient(
  admin: KeycloakAdmin,
  realm: string,
  clientId: string,
): Promise<FoundClient | undefined> {
  const query = new URLSearchParams([['clientId', clientId]]);
  const found = toList(await admin.get(`${pathOf(realm, 'clients')}?${query.toString()}`));
  return found.map(toClient).find((client) => client.clientId === clientId);
}

/** Reads all clients of a realm, page by page. */
export async function readClients(
  admin: KeycloakAdmin,
  realm: string,
): Promise<readonly FoundClient[]> {
  const clients: FoundClient[] = [];
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = `first=${page * CLIENTS_A_PAGE}&max=${CLIENTS_A_PAGE}`;
    const found = toList(await admin.get(`${pathOf(realm, 'clients')}?${query}`));
    clients.push(...found.map(toClient));
    if (found.length < CLIENTS_A_PAGE) break;
  }
  return clients;
}

/**
 * Reads whether the administrator may change clients. Keycloak says it of each client, and a realm has clients from the
 * start; of one that hides them all, the answer is no.
 */
export async function readMayChangeClients(admin: KeycloakAdmin, realm: string): Promise<boolean> {
  const [first] = toList(await admin.get(`${pathOf(realm, 'clients')}?first=0&max=1`));
  if (first === undefined) return false;
  const { access } = toMembers(first);
  return access === undefined || toMembers(access)['manage'] !== false;
}

/** Reads all client scopes of a realm. */
export async function readScopes(
  admin: KeycloakAdmin,
  realm: string,
): Promise<readonly FoundScope[]> {
  return toList(await admin.get(pathOf(realm, 'client-scopes'))).map((entry) => {
    const members = toMembers(entry);
    return {
      id: textOf(members['id']),
      name: textOf(members['name']),
      members,
      attributes: textsOf(members['attributes']),
    };
  });
}

/** Reads a client's secret: a secret. */
export async function readSecret(
  admin: KeycloakAdmin,
  realm: string,
  { id, clientId }: FoundClient,
): Promise<string> {
  const found = toMembers(await admin.get(pathOf(realm, 'clients', id, 'client-secret')));
  const secret = textOf(found['value']);
  if (secret !== '') return secret;
  throw unexpected(`no secret of the client ${clientId}`);
}

function toClient(entry: unknown): FoundClient {
  const members = toMembers(entry);
  return {
    id: textOf(members['id']),
    clientId: textOf(members['clientId']),
    members,
    attributes: textsOf(members['attributes']),
    mappers: Array.isArray(members['protocolMappers'])
      ? members['protocolMappers'].map(toMembers)
      : [],
    defaultScopes: listOf(members['defaultClientScopes']),
    optionalScopes: listOf(members['optionalClientScopes']),
  };
}

function toList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw unexpected('no list');
}

function toMembers(value: unknown): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw unexpected('no object');
}

function unexpected(found: string): SallyportError {
  return new SallyportError('SP_IDP_PROTOCOL', {
    component: 'keycloak',
    detail: `the admin interface answered with ${found}`,
  });
}

/** The text of a member; empty where it is none. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const listOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];

/** Texts of an object such as `attributes` or a mapper's `config`. */
export function textsOf(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

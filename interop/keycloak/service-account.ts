/**
 * Service accounts that administrate a Keycloak, with the roles that a test gives them.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { askKeycloak } from './realm.ts';

/** A service account. */
export interface ServiceAccount {
  /** Options that name it. */
  readonly options: readonly string[];
  /** Variables that hold its secret. */
  readonly environment: Readonly<Record<string, string>>;
  /** Takes it away, where it is not gone with its realm. */
  remove(): Promise<void>;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/**
 * Makes one in a realm.
 *
 * @param roles - Of the client `realm-management`; in `master` of the realm itself.
 */
export async function makeServiceAccount(
  realm: string,
  roles: readonly string[],
): Promise<ServiceAccount> {
  const clientId = `administrator-${randomBytes(4).toString('hex')}`;
  const secret = randomBytes(18).toString('base64url');
  await askKeycloak(`/${realm}/clients`, 'POST', {
    clientId,
    secret,
    publicClient: false,
    serviceAccountsEnabled: true,
    standardFlowEnabled: false,
  });
  const id = await idOf(realm, clientId);
  const user = (await askKeycloak(`/${realm}/clients/${id}/service-account-user`)) as Named;
  const isMaster = realm === 'master';
  const owner = isMaster ? '' : await idOf(realm, 'realm-management');
  const all = (await askKeycloak(
    isMaster ? `/${realm}/roles` : `/${realm}/clients/${owner}/roles`,
  )) as readonly Named[];
  const given = all.filter(({ name }) => roles.includes(name));
  if (given.length !== roles.length) throw new Error(`not all of ${roles.join()} are roles`);
  const mapping = isMaster ? 'realm' : `clients/${owner}`;
  await askKeycloak(`/${realm}/users/${user.id}/role-mappings/${mapping}`, 'POST', given);
  return {
    options: ['--admin-realm', realm, '--admin-client-id', clientId],
    environment: { SALLYPORT_IDP_ADMIN_CLIENT_SECRET: secret },
    remove: async () => void (await askKeycloak(`/${realm}/clients/${id}`, 'DELETE')),
  };
}

async function idOf(realm: string, clientId: string): Promise<string> {
  const [client] = (await askKeycloak(`/${realm}/clients?clientId=${clientId}`)) as Named[];
  if (client === undefined) throw new Error(`no client ${clientId}`);
  return client.id;
}

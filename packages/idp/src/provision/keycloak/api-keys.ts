/**
 * The clients behind API keys in a realm of Keycloak: one client for each key.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { accept, refuse } from '@sallyport/protocol';
import {
  type ApiKeyClient,
  type ApiKeyIssuer,
  isClusterName,
  isOrganizationName,
} from '../../api-keys/api-key-issuer.ts';
import type { DeploymentSpec } from '../../spec/deployment-spec.ts';
import { type KeycloakAdmin, pathOf } from './admin-api.ts';
import { applyClient, missingScope } from './apply-realm.ts';
import { API_KEY_ATTRIBUTE } from './plan-realm.ts';
import {
  type FoundClient,
  readClient,
  readClients,
  readScopes,
  readSecret,
} from './representations.ts';
import { createClientWish, OWNER_ATTRIBUTE } from './wishes.ts';

/** A realm that a deployment is set up in. */
export interface KeycloakApiKeysOptions {
  readonly admin: KeycloakAdmin;
  readonly realm: string;
  readonly spec: DeploymentSpec;
  /** Current time in epoch milliseconds. */
  readonly now: () => number;
}

const ID_BYTES = 10;

/**
 * Creates the issuer. Its clients are like the shared service app, have a secret that Keycloak makes, and are removed with
 * the deployment. Its functions throw as the admin interface does. Does not make the client scope: the realm has to be set
 * up before.
 */
export function createKeycloakApiKeyIssuer({
  admin,
  realm,
  spec,
  now,
}: KeycloakApiKeysOptions): ApiKeyIssuer {
  const { audience: owner, scope } = spec.authorizationServer;
  return {
    async create({ organization, cluster }) {
      if (!isOrganizationName(organization)) return refuse('organization_unusable');
      if (!isClusterName(cluster)) return refuse('cluster_unusable');
      const scopes = await readScopes(admin, realm);
      const scopeNames = scopes.map(({ name }) => name);
      if (!scopeNames.includes(scope.name)) throw missingScope(realm, scope.name);
      const clientId = `api-key-${randomBytes(ID_BYTES).toString('hex')}`;
      const client: ApiKeyClient = { clientId, organization, cluster, createdAt: now() };
      const name = `API key of ${organization}, ${cluster}`;
      const wish = createClientWish({ ...spec.services[0], clientId, name }, spec, scopeNames);
      const attributes = {
        ...wish.attributes,
        [API_KEY_ATTRIBUTE]: JSON.stringify({ organization, cluster, createdAt: client.createdAt }),
      };
      const made = await applyClient(undefined, { ...wish, attributes }, { admin, realm });
      return accept({ ...client, clientSecret: await readSecret(admin, realm, made) });
    },
    async list() {
      const clients = await readClients(admin, realm);
      return clients
        .flatMap((client) => readApiKeyClient(client, owner) ?? [])
        .toSorted((one, other) => one.createdAt - other.createdAt);
    },
    async revoke(clientId) {
      const client = await readClient(admin, realm, clientId);
      if (client === undefined || readApiKeyClient(client, owner) === undefined) return false;
      await admin.remove(pathOf(realm, 'clients', client.id));
      return true;
    },
  };
}

/** Reads what stands in a client's attributes; undefined for a client of others. */
function readApiKeyClient(
  { clientId, attributes }: FoundClient,
  deployment: string,
): ApiKeyClient | undefined {
  const text = attributes[API_KEY_ATTRIBUTE];
  if (text === undefined || attributes[OWNER_ATTRIBUTE] !== deployment) return undefined;
  try {
    const { organization, cluster, createdAt } = JSON.parse(text) as Record<string, unknown>;
    return typeof organization === 'string' &&
      typeof cluster === 'string' &&
      typeof createdAt === 'number' &&
      Number.isSafeInteger(createdAt)
      ? { clientId, organization, cluster, createdAt }
      : undefined;
  } catch {
    return undefined;
  }
}

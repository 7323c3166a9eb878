/**
 * The clients behind the API keys of the embedded IdP: in a file of its state directory, without their secrets.
 *
 * @module
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { accept, refuse } from '@sallyport/protocol';
import {
  type ApiKeyClient,
  type ApiKeyIssuer,
  isClusterName,
  isOrganizationName,
} from '../../api-keys/api-key-issuer.ts';
import { API_SCOPE } from '../../spec/idp-spec.ts';
import { createSecret, type StateDirectory, unusableFile } from '../state-directory.ts';

/** The issuer, and what the provider asks about its clients. */
export interface ClientRegistry extends ApiKeyIssuer {
  /** Registration of a client in the shape of RFC 7591 section 2, or nothing. Its `client_secret` is a digest. */
  findRegistration(clientId: string): Readonly<Record<string, unknown>> | undefined;
  /** Whether a secret is that of a client; nothing for a client of others. */
  verifySecret(clientId: string, secret: string): boolean | undefined;
}

interface StoredClient extends ApiKeyClient {
  /** SHA-256 of the secret, base64url. A secret has 256 random bits, so a plain digest keeps it. */
  readonly secretDigest: string;
}

const FILE = 'api-key-clients.json';
const CLIENTS_MAX = 1_000;
const ID_BYTES = 10;

/**
 * Reads the clients of a state directory. A change is in the file before it is acknowledged.
 *
 * @throws {SallyportError} `SP_CONFIG_INVALID` when the file is none of these, `SP_STORE_UNAVAILABLE` when it cannot
 *   be read.
 */
export async function openClientRegistry(
  directory: StateDirectory,
  now: () => number,
): Promise<ClientRegistry> {
  const clients = await readClients(directory);
  let last: Promise<unknown> = Promise.resolve();
  /** One change after the other: what is written is what the change before left. */
  const inTurn = <T>(change: () => Promise<T>): Promise<T> => {
    const turn = last.then(change, change);
    last = turn.catch(() => {});
    return turn;
  };
  const save = (after: ReadonlyMap<string, StoredClient>): Promise<void> =>
    directory.replace(FILE, `${JSON.stringify({ clients: [...after.values()] }, undefined, 2)}\n`);

  return {
    create: ({ organization, cluster }) =>
      inTurn(async () => {
        if (!isOrganizationName(organization)) return refuse('organization_unusable');
        if (!isClusterName(cluster)) return refuse('cluster_unusable');
        if (clients.size >= CLIENTS_MAX) return refuse('too_many_clients');
        const clientSecret = createSecret();
        const clientId = `api-key-${randomBytes(ID_BYTES).toString('hex')}`;
        const client = { clientId, organization, cluster, createdAt: now() };
        const stored = { ...client, secretDigest: digest(clientSecret) };
        await save(new Map([...clients, [clientId, stored]]));
        clients.set(clientId, stored);
        return accept({ ...client, clientSecret });
      }),
    list: async () => [...clients.values()].map(withoutDigest),
    revoke: (clientId) =>
      inTurn(async () => {
        if (!clients.has(clientId)) return false;
        await save(new Map([...clients].filter(([id]) => id !== clientId)));
        clients.delete(clientId);
        return true;
      }),
    findRegistration(clientId) {
      const client = clients.get(clientId);
      if (client === undefined) return undefined;
      return {
        client_id: clientId,
        client_name: `API key of ${client.organization}, ${client.cluster}`,
        client_secret: client.secretDigest,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        scope: API_SCOPE,
        token_endpoint_auth_method: 'client_secret_basic',
      };
    },
    verifySecret(clientId, secret) {
      const client = clients.get(clientId);
      if (client === undefined) return undefined;
      return timingSafeEqual(Buffer.from(client.secretDigest), Buffer.from(digest(secret)));
    },
  };
}

function withoutDigest(stored: StoredClient): ApiKeyClient {
  const { secretDigest: _, ...client } = stored;
  return client;
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

async function readClients(directory: StateDirectory): Promise<Map<string, StoredClient>> {
  const text = await directory.read(FILE);
  if (text === undefined) return new Map();
  const clients = parseClients(text);
  if (clients === undefined) throw unusableFile(directory.pathOf(FILE));
  return new Map(clients.map((client) => [client.clientId, client]));
}

function parseClients(text: string): readonly StoredClient[] | undefined {
  try {
    const { clients } = JSON.parse(text) as { readonly clients: readonly StoredClient[] };
    return clients.every(isStoredClient) ? clients : undefined;
  } catch {
    return undefined;
  }
}

function isStoredClient(client: StoredClient): boolean {
  const { clientId, organization, cluster, createdAt, secretDigest } = client;
  return (
    /^api-key-[0-9a-f]{20}$/.test(clientId) &&
    isOrganizationName(organization) &&
    isClusterName(cluster) &&
    Number.isSafeInteger(createdAt) &&
    /^[A-Za-z0-9_-]{43}$/.test(secretDigest)
  );
}

/**
 * The administration of API key clients as a command uses it: the port over HTTP.
 *
 * @module
 */

import { accept, refuse, SallyportError } from '@sallyport/protocol';
import type {
  ApiKeyClient,
  ApiKeyIssuer,
  ApiKeyIssuerRefusal,
  IssuedApiKeyClient,
} from './api-key-issuer.ts';

/** Where the embedded IdP is, and what admits to its administration. */
export interface AdminClientOptions {
  /** Origin of the IdP, on the loopback. */
  readonly url: string;
  /** A secret. */
  readonly token: string;
  readonly fetch: typeof fetch;
}

const REFUSALS: readonly string[] = [
  'organization_unusable',
  'cluster_unusable',
  'too_many_clients',
] satisfies readonly ApiKeyIssuerRefusal[];
/** Path of the clients behind API keys at the embedded IdP, and prefix of the path of each. */
export const API_KEY_CLIENTS_PATH = '/idp/admin/api-key-clients';

const TIMEOUT_MS = 10_000;

/**
 * Creates the issuer of a running embedded IdP.
 *
 * Each function throws `SP_IDP_UNREACHABLE` when it does not answer, and `SP_IDP_PROTOCOL` when it answers anything
 * but what the port says.
 */
export function createApiKeyAdminClient({ url, token, fetch }: AdminClientOptions): ApiKeyIssuer {
  async function ask(method: string, path: string, body?: object): Promise<Response> {
    try {
      return await fetch(url + path, {
        method,
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (cause) {
      throw new SallyportError('SP_IDP_UNREACHABLE', {
        component: 'idp',
        detail: `the identity provider at ${url} does not answer`,
        cause,
      });
    }
  }

  return {
    async create(owner) {
      const response = await ask('POST', API_KEY_CLIENTS_PATH, owner);
      const body = await readJson(response);
      const error = body?.['error'];
      if (response.status === 422 && isRefusal(error)) return refuse(error);
      if (response.status !== 201 || !isIssued(body)) throw unexpected(response);
      return accept(body);
    },
    async list() {
      const response = await ask('GET', API_KEY_CLIENTS_PATH);
      const clients = (await readJson(response))?.['clients'];
      if (response.status !== 200 || !Array.isArray(clients) || !clients.every(isClient))
        throw unexpected(response);
      return clients;
    },
    async revoke(clientId) {
      const path = `${API_KEY_CLIENTS_PATH}/${encodeURIComponent(clientId)}`;
      const response = await ask('DELETE', path);
      if (response.status !== 204 && response.status !== 404) throw unexpected(response);
      await response.body?.cancel();
      return response.status === 204;
    },
  };
}

async function readJson(
  response: Response,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null
      ? (body as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function isRefusal(error: unknown): error is ApiKeyIssuerRefusal {
  return typeof error === 'string' && REFUSALS.includes(error);
}

function isClient(value: unknown): value is ApiKeyClient {
  if (typeof value !== 'object' || value === null) return false;
  const { clientId, organization, cluster, createdAt } = value as Record<string, unknown>;
  return (
    [clientId, organization, cluster].every((text) => typeof text === 'string') &&
    Number.isSafeInteger(createdAt)
  );
}

function isIssued(value: unknown): value is IssuedApiKeyClient {
  return isClient(value) && 'clientSecret' in value && typeof value.clientSecret === 'string';
}

function unexpected({ status }: Response): SallyportError {
  return new SallyportError('SP_IDP_PROTOCOL', {
    component: 'idp',
    detail: `the administration of API keys answered ${status}`,
  });
}

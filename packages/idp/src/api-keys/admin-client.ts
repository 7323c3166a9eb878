/**
 * The administration of API key clients as a command uses it: the port over HTTP.
 *
 * @module
 */

import { accept, refuse, SallyportError } from '@sallyport/protocol';
import {
  type ExchangeLimits,
  exchangeJson,
  type JsonAnswer,
  membersOf,
  OversizedAnswer,
} from '../exchange/exchange-json.ts';
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

/** Room for as many clients as the embedded IdP has at most. */
const LIMITS: ExchangeLimits = { timeoutMs: 10_000, bodyMaxBytes: 4_194_304 };

/**
 * Creates the issuer of a running embedded IdP.
 *
 * Each function throws `SP_IDP_UNREACHABLE` when it does not answer, and `SP_IDP_PROTOCOL` when it answers anything
 * but what the port says, or more than 4 MiB.
 */
export function createApiKeyAdminClient({ url, token, fetch }: AdminClientOptions): ApiKeyIssuer {
  async function ask(method: string, path: string, body?: object): Promise<JsonAnswer> {
    try {
      const init = {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      };
      return await exchangeJson(fetch, url + path, init, LIMITS);
    } catch (cause) {
      if (cause instanceof OversizedAnswer) throw unexpected(`with ${cause.message}`);
      throw new SallyportError('SP_IDP_UNREACHABLE', {
        component: 'idp',
        detail: `the identity provider at ${url} does not answer`,
        cause,
      });
    }
  }

  return {
    async create(owner) {
      const { status, json } = await ask('POST', API_KEY_CLIENTS_PATH, owner);
      const { error } = membersOf(json);
      if (status === 422 && isRefusal(error)) return refuse(error);
      if (status !== 201 || !isIssued(json)) throw unexpected(String(status));
      return accept(json);
    },
    async list() {
      const { status, json } = await ask('GET', API_KEY_CLIENTS_PATH);
      const { clients } = membersOf(json);
      if (status !== 200 || !Array.isArray(clients) || !clients.every(isClient))
        throw unexpected(String(status));
      return clients;
    },
    async revoke(clientId) {
      const path = `${API_KEY_CLIENTS_PATH}/${encodeURIComponent(clientId)}`;
      const { status } = await ask('DELETE', path);
      if (status !== 204 && status !== 404) throw unexpected(String(status));
      return status === 204;
    },
  };
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

function unexpected(answer: string): SallyportError {
  return new SallyportError('SP_IDP_PROTOCOL', {
    component: 'idp',
    detail: `the administration of API keys answered ${answer}`,
  });
}

/**
 * The administration of API key clients over HTTP, for commands on the same machine.
 *
 * | Request | Answer |
 * |---|---|
 * | `GET /idp/admin/api-key-clients` | 200 `{ clients: [ApiKeyClient] }` |
 * | `POST` there, `{ organization, cluster }` | 201 `IssuedApiKeyClient`, or 422 `{ error: ApiKeyIssuerRefusal }` |
 * | `DELETE /idp/admin/api-key-clients/<id>` | 204, or 404 `{ error: 'not_found' }` |
 *
 * @module
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { API_KEY_CLIENTS_PATH } from '../../api-keys/admin-client.ts';
import type { ApiKeyIssuer } from '../../api-keys/api-key-issuer.ts';
import type { LogIdpEvent } from '../log-event.ts';

/** Answers a request, or says that it is not for this endpoint. */
export type AdminEndpoint = (
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<boolean>;

/** What the endpoint is made of. */
export interface AdminEndpointOptions {
  readonly issuer: ApiKeyIssuer;
  /** Capability: who has it may do all of the above. At least 32 characters, random. */
  readonly token: string;
  readonly log: LogIdpEvent;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

const BODY_BYTES_MAX = 4_096;
/**
 * Headers that browsers send and programs do not: no page may administrate, not even with the token. Node's fetch
 * sends `Sec-Fetch-Mode`.
 */
const OF_BROWSERS = ['origin', 'sec-fetch-site', 'sec-fetch-dest'];

/**
 * Creates the endpoint. It answers 401 without the token, 403 to a browser, 405 and 415 to what it does not know.
 *
 * Does not look at `Host`; the listener does.
 */
export function createAdminEndpoint({ issuer, token, log }: AdminEndpointOptions): AdminEndpoint {
  const refuse = (status: number, error: string): Answer => {
    log('idp.api_key.refused', { status, error });
    return { status, body: { error } };
  };

  async function decide(request: IncomingMessage, path: string): Promise<Answer> {
    const isBrowser = OF_BROWSERS.some((name) => request.headers[name] !== undefined);
    if (isBrowser) return refuse(403, 'not_for_browsers');
    if (!isSame(request.headers.authorization ?? '', `Bearer ${token}`))
      return refuse(401, 'invalid_token');
    const clientId =
      path === API_KEY_CLIENTS_PATH ? '' : path.slice(API_KEY_CLIENTS_PATH.length + 1);
    if (clientId !== '') {
      if (request.method !== 'DELETE') return refuse(405, 'method_not_allowed');
      if (!(await issuer.revoke(clientId))) return { status: 404, body: { error: 'not_found' } };
      log('idp.api_key.revoked', { client_id: clientId });
      return { status: 204 };
    }
    if (request.method === 'GET') return { status: 200, body: { clients: await issuer.list() } };
    if (request.method !== 'POST') return refuse(405, 'method_not_allowed');
    if (request.headers['content-type'] !== 'application/json')
      return refuse(415, 'unsupported_media_type');
    const owner = await readOwner(request);
    if (owner === undefined) return refuse(400, 'invalid_request');
    const created = await issuer.create(owner);
    if (!created.ok) return refuse(422, created.error);
    const { clientId: id, organization, cluster } = created.value;
    log('idp.api_key.created', { client_id: id, organization, cluster });
    return { status: 201, body: created.value };
  }

  return async function adminEndpoint(request, response) {
    const [path = ''] = (request.url ?? '').split('?');
    if (path !== API_KEY_CLIENTS_PATH && !path.startsWith(`${API_KEY_CLIENTS_PATH}/`)) return false;
    let answer: Answer;
    try {
      answer = await decide(request, path);
    } catch (error) {
      log('idp.failed', {
        route: 'api_key_clients',
        error: error instanceof Error ? error.name : 'unknown',
      });
      answer = { status: 503, body: { error: 'unavailable' } };
    }
    send(response, answer);
    return true;
  };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.setHeader('cache-control', 'no-store');
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  // What was not read of a request must not be taken for the next one.
  if (status >= 400) response.setHeader('connection', 'close');
  if (body === undefined) {
    response.writeHead(status).end();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Compares digests, so that neither length nor content shows in the time it takes. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

async function readOwner(
  request: IncomingMessage,
): Promise<{ readonly organization: string; readonly cluster: string } | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const buffer = chunk as Buffer;
    bytes += buffer.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    chunks.push(buffer);
  }
  try {
    const { organization, cluster } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof organization === 'string' && typeof cluster === 'string'
      ? { organization, cluster }
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * As much of Keycloak's admin interface as a setup uses, with one request that is never answered: no real one stands still so exactly.
 *
 * The real one is in `interop/keycloak`.
 *
 * @module
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The fake, with one realm, `a`. */
export interface StallingKeycloak {
  readonly issuer: string;
  /** Ends once the request has arrived that is not answered. */
  readonly stalled: Promise<void>;
  /** Client IDs and names of client scopes, as they were made and not removed. */
  readonly objects: () => readonly string[];
  close(): Promise<void>;
}

type Members = Readonly<Record<string, unknown>>;

const REALM = '/admin/realms/a';
/** Client scopes that a realm has from the start, as far as they are used, and a client. */
const GIVEN = ['basic', 'profile', 'email', 'offline_access'];
const GIVEN_CLIENT = 'account';

/** Starts it. It does not answer the request that `stallsAt` chooses, and does not carry it out. */
export async function startStallingKeycloak(
  stallsAt: (method: string, path: string, members: Members) => boolean,
): Promise<StallingKeycloak> {
  const scopes: Members[] = GIVEN.map((name) => ({ id: name, name, protocol: 'openid-connect' }));
  const clients: Members[] = [{ id: GIVEN_CLIENT, clientId: GIVEN_CLIENT }];
  const { promise: stalled, resolve } = Promise.withResolvers<void>();
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = `${origin}/realms/a`;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const members = await readMembers(request);
    const { method = '', url = '' } = request;
    if (stallsAt(method, url, members)) {
      resolve();
      return;
    }
    const [status, body] = answer(method, new URL(url, 'http://x'), members);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? '' : JSON.stringify(body));
  }

  function answer(method: string, { pathname, searchParams }: URL, members: Members): Answer {
    if (pathname.endsWith('/token')) return [200, { access_token: 'x', expires_in: 60 }];
    if (pathname.endsWith('/openid-configuration'))
      return [200, { issuer, token_endpoint: `${issuer}/token` }];
    if (pathname === REALM) return [200, { realm: 'a', revokeRefreshToken: false }];
    if (!pathname.startsWith(`${REALM}/`)) return [404, {}];
    const [kind = '', id, part] = pathname.slice(REALM.length + 1).split('/');
    const list = kind === 'clients' ? clients : scopes;
    if (method === 'POST' && id === undefined) {
      list.push({ ...members, id: String(members['clientId'] ?? members['name']) });
      return [201, undefined];
    }
    if (part === 'client-secret') return [200, { value: `canary-secret-of-${id}` }];
    if (method === 'DELETE' && part === undefined)
      list.splice(
        list.findIndex((entry) => entry['id'] === id),
        1,
      );
    if (method !== 'GET') return [204, undefined];
    const clientId = searchParams.get('clientId');
    const found = clientId === null ? list : list.filter((entry) => entry['clientId'] === clientId);
    return [200, found];
  }

  return {
    issuer,
    stalled,
    objects: () =>
      [...scopes, ...clients]
        .map((entry) => String(entry['clientId'] ?? entry['name']))
        .filter((name) => !GIVEN.includes(name) && name !== GIVEN_CLIENT),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

type Answer = readonly [status: number, body: unknown];

async function readMembers(request: IncomingMessage): Promise<Members> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text.startsWith('{') ? (JSON.parse(text) as Members) : {};
}

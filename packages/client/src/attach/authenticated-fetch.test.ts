import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { refuse, SallyportError } from '@sallyport/protocol';
import { createCountingSource } from '@sallyport/testing/client/fixed-source';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAuthenticatedFetch } from './authenticated-fetch.ts';

const HEADER = 'core-authorization';

/** A server on the loopback that remembers what it was sent. */
async function serve(handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: { readonly token: unknown; readonly body: string; readonly url: unknown }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      seen.push({ token: request.headers[HEADER], body, url: request.url });
      handler(request, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** A platform that takes every token but the first. */
function refuseFirst(request: IncomingMessage, response: ServerResponse): void {
  const isRefused = request.headers[HEADER] === 'Bearer access-1';
  response.writeHead(isRefused ? 401 : 200).end('answer');
}

async function setUp(handler: Parameters<typeof serve>[0]) {
  const { endpoint, seen } = await serve(handler);
  const { source, obtained } = createCountingSource();
  const header = async (): Promise<string> => HEADER;
  const authenticated = createAuthenticatedFetch({ fetch, source, endpoint, header });
  return { endpoint, seen, obtained, authenticated, source, header };
}

describe('Bearer header rule 1: fetch', () => {
  it('attaches the token in the header the platform names', async () => {
    const { authenticated, endpoint, seen } = await setUp((_request, response) => response.end());
    await authenticated(`${endpoint}/me`);
    expect(seen).toEqual([{ token: 'Bearer access-1', body: '', url: '/me' }]);
  });

  it('asks for the name of the header only when a token is attached', async () => {
    let asked = 0;
    const { source } = createCountingSource();
    const header = async (): Promise<string> => {
      asked += 1;
      return HEADER;
    };
    const other = await serve((_request, response) => response.end());
    const authenticated = createAuthenticatedFetch({
      fetch,
      source,
      endpoint: 'https://flow.example',
      header,
    });
    await authenticated(other.endpoint);
    expect(asked).toBe(0);
  });

  it('401: signs in again once and repeats the request once', async () => {
    const { authenticated, endpoint, seen, obtained } = await setUp(refuseFirst);
    const response = await authenticated(`${endpoint}/write`, { method: 'POST', body: 'text' });
    expect([response.status, await response.text()]).toEqual([200, 'answer']);
    expect(seen.map(({ token, body }) => [token, body])).toEqual([
      ['Bearer access-1', 'text'],
      ['Bearer access-2', 'text'],
    ]);
    expect(obtained()).toBe(2);
  });

  it('twenty requests answered 401 at once cause one exchange', async () => {
    const { authenticated, endpoint, obtained } = await setUp(refuseFirst);
    const all = await Promise.all(Array.from({ length: 20 }, () => authenticated(endpoint)));
    expect(all.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(obtained()).toBe(2);
  });

  it('a server that always answers 401 is asked twice for a request, and causes no exchange for the next', async () => {
    const { authenticated, endpoint, seen, obtained } = await setUp((_request, response) =>
      response.writeHead(401).end(),
    );
    expect((await authenticated(endpoint)).status).toBe(401);
    expect((await authenticated(endpoint)).status).toBe(401);
    expect([seen.length, obtained()]).toEqual([3, 2]);
  });

  it.each([403, 503, 500, 404])('%i is no reason to sign in', async (status) => {
    const { authenticated, endpoint, seen, obtained } = await setUp((_request, response) =>
      response.writeHead(status).end(),
    );
    expect((await authenticated(endpoint)).status).toBe(status);
    expect([seen.length, obtained()]).toEqual([1, 1]);
  });

  it.each([
    ['a stream', () => new Response('text').body],
    ['the body of a Request', undefined],
  ])(
    '%s is not sent twice: the 401 is returned, and the next request has the new token',
    async (_name, body) => {
      const { authenticated, endpoint, seen, obtained } = await setUp(refuseFirst);
      const init = { method: 'POST', body: body?.() ?? 'text', duplex: 'half' as const };
      const first =
        body === undefined
          ? await authenticated(new Request(endpoint, init))
          : await authenticated(endpoint, init);
      expect([first.status, seen.length, obtained()]).toEqual([401, 1, 2]);
      expect((await authenticated(endpoint)).status).toBe(200);
      expect(obtained()).toBe(2);
    },
  );

  it('a Request without a body is repeated', async () => {
    const { authenticated, endpoint } = await setUp(refuseFirst);
    expect((await authenticated(new Request(endpoint, { headers: { a: 'b' } }))).status).toBe(200);
  });

  it('another origin never sees the token', async () => {
    const { authenticated, obtained } = await setUp((_request, response) => response.end());
    const other = await serve((_request, response) => response.writeHead(401).end());
    await authenticated(other.endpoint);
    await authenticated(new Request(other.endpoint));
    await authenticated(new URL(other.endpoint));
    expect(other.seen.map(({ token }) => token)).toEqual([undefined, undefined, undefined]);
    expect(obtained()).toBe(0);
  });

  it('a redirect is not followed with the token, neither to another origin nor to this one', async () => {
    const other = await serve((_request, response) => response.end());
    const { authenticated, endpoint, seen } = await setUp((request, response) =>
      response.writeHead(302, { location: request.url === '/out' ? other.endpoint : '/in' }).end(),
    );
    expect((await authenticated(`${endpoint}/out`)).status).toBe(302);
    expect((await authenticated(`${endpoint}/again`)).status).toBe(302);
    expect([seen.length, other.seen.length]).toEqual([2, 0]);
    await expect(authenticated(`${endpoint}/out`, { redirect: 'error' })).rejects.toThrow(
      'redirect',
    );
  });

  it.each([HEADER, 'authorization', 'Authorization'])(
    "a caller's own %s is left alone",
    async (name) => {
      const { authenticated, endpoint, seen, obtained } = await setUp((_request, response) =>
        response.writeHead(401).end(),
      );
      const headers = { [name]: 'Bearer own' };
      expect((await authenticated(endpoint, { headers })).status).toBe(401);
      expect((await authenticated(new Request(endpoint, { headers }))).status).toBe(401);
      expect(seen.map(({ token }) => token)).not.toContain('Bearer access-1');
      expect([seen.length, obtained()]).toEqual([2, 0]);
    },
  );

  it('without a token nothing is sent, and the refusal says what to do', async () => {
    const { endpoint, seen, source, header } = await setUp((_request, response) => response.end());
    const refusal = {
      error: 'login_required',
      description: 'There is no sign-in.',
      hint: 'Sign in.',
    };
    const signedOut = { ...source, get: async () => refuse(refusal) };
    const authenticated = createAuthenticatedFetch({ fetch, source: signedOut, endpoint, header });
    await expect(authenticated(endpoint)).rejects.toMatchObject({
      name: 'TokenRefusedError',
      refusal,
    });
    expect(seen).toEqual([]);
  });

  it('the 401 is returned when nothing better is to be had, and an outage meanwhile is an error', async () => {
    const { endpoint, source, header } = await setUp(refuseFirst);
    const refusal = { error: 'login_required', description: '', hint: '' };
    const refused = { get: source.get, replace: async () => refuse(refusal) };
    const one = createAuthenticatedFetch({ fetch, source: refused, endpoint, header });
    expect((await one(endpoint)).status).toBe(401);
    const outage = new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp' });
    const down = { get: source.get, replace: () => Promise.reject(outage) };
    const other = createAuthenticatedFetch({ fetch, source: down, endpoint, header });
    await expect(other(endpoint)).rejects.toBe(outage);
  });

  it("a caller's abort ends the wait for a token", async () => {
    const { endpoint, header, seen } = await setUp((_request, response) => response.end());
    const never = {
      get: (options?: { signal?: AbortSignal }) => Promise.reject(options?.signal?.reason as Error),
    };
    const source = { ...never, replace: () => Promise.reject(new Error('not needed')) };
    const authenticated = createAuthenticatedFetch({ fetch, source, endpoint, header });
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(authenticated(endpoint, { signal })).rejects.toThrow('enough');
    expect(seen).toEqual([]);
  });
});

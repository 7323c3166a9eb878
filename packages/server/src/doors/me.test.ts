import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { ADA, ADA_SIGNS_IN } from '@sallyport/testing/server/people';
import { NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCookieSettings, setSessionCookie } from '../session/session-cookie.ts';
import type { CheckRequest } from '../verdict/check-request.ts';
import { prepareIdentity } from '../verdict/identity.ts';
import type { Admitted, Identity, Verdict } from '../verdict/verdict.ts';
import { createMeHandler } from './me.ts';
import type { VerdictCache } from './verdict-cache.ts';

const PUBLIC = 'https://flow.example';
const SLID = setSessionCookie(
  createCookieSettings(new URL(PUBLIC), 'Lax', ''),
  `AAAAAAAB.${'A'.repeat(43)}`,
  43_200,
);

function createIdentity(groups = 'engineers'): Identity | 'claims_overflow' {
  const { principal, claims } = ADA_SIGNS_IN;
  const user = { ...ADA, additionalClaims: { groups } };
  return prepareIdentity({ principal, user, claims }, ['groups']);
}

function admit(identity = createIdentity(), setCookie?: string): Admitted {
  if (identity === 'claims_overflow') throw new Error(identity);
  const session = { id: 1, generation: 1, createdAt: NOON, endsAt: NOON, absoluteEnd: NOON };
  return { outcome: 'admitted', identity, session, setCookie, renewal: undefined };
}

/** The door in front of a router that answers 418, on a free port. */
async function serve(
  check: (request: CheckRequest) => Verdict | Promise<Verdict>,
  verdictCache?: VerdictCache,
) {
  const seen: CheckRequest[] = [];
  const door = createMeHandler({
    publicOrigin: PUBLIC,
    verdictCache,
    check: (request) => {
      seen.push(request);
      return check(request);
    },
  });
  const server = createServer((req, res) => {
    if (!door(req, res)) res.writeHead(418).end('next');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const ask = async (
    path = '/me',
    options: { method?: string; headers?: Record<string, string | string[]> } = {},
  ) => {
    const request = httpRequest({ port, host: '127.0.0.1', path, agent: false, ...options });
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return {
      status: response.statusCode,
      headers: response.headers,
      raw: response.rawHeaders,
      body: await text(response),
    };
  };
  /** Everything up to the body, as it stands on the wire. */
  const askForHead = async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /me HTTP/1.1\r\nHost: flow.example\r\n\r\n');
    let received = '';
    socket.setEncoding('latin1');
    for await (const chunk of socket) {
      received += String(chunk);
      if (received.includes('\r\n\r\n')) break;
    }
    return received.slice(0, received.indexOf('\r\n\r\n') + 4);
  };
  return { ask, askForHead, seen };
}

describe('GET /me for a person who may enter', () => {
  it('answers exactly 200 with the user record and every identity header, for no cache to keep', async () => {
    const { ask } = await serve(() => admit());
    const { status, headers, body } = await ask();
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'x-user-subject': 'ada-subject',
      'x-user-issuer': 'https://idp.example',
      'x-user-identity-type': 'user',
      'x-user-email': 'ada@corp.example',
      'x-user-name': 'Ada Lovelace',
      'x-user-claim-groups': 'engineers',
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-accel-expires': '0',
    });
    expect(JSON.parse(body)).toMatchObject({ subject: 'ada-subject', preferredUsername: 'ada' });
    expect(Number(headers['content-length'])).toBe(Buffer.byteLength(body));
  });

  it('says in a header of nginx for how long the verdict may be kept, and forbids every other cache to keep it', async () => {
    let seconds = 4;
    const { ask } = await serve(
      () => admit(),
      () => seconds,
    );
    const kept = await ask();
    expect(kept.headers).toMatchObject({ 'x-accel-expires': '4', 'cache-control': 'no-store' });
    seconds = 0;
    const next = await ask();
    expect(next.headers).toMatchObject({ 'x-accel-expires': '0', 'cache-control': 'no-store' });
    expect(kept.raw.length).toBe(next.raw.length);
  });

  it('never lets a refusal be kept, and does not even ask', async () => {
    const refused: Verdict = { outcome: 'refused', reason: 'no_credential' };
    const { ask } = await serve(
      () => refused,
      () => 4,
    );
    expect((await ask()).headers['x-accel-expires']).toBe('0');
  });

  it('says the cache rule of nginx before Cache-Control: the first one counts there', async () => {
    const { ask } = await serve(() => admit());
    const names = (await ask()).raw
      .filter((_, index) => index % 2 === 0)
      .map((name) => name.toLowerCase());
    expect(names.indexOf('x-accel-expires')).toBeLessThan(names.indexOf('cache-control'));
    expect(new Set(names).size).toBe(names.length);
  });

  it.each([
    ['application/json', 'preferred_username'],
    ['*/*', 'preferredUsername'],
    ['application/json, text/plain, */*', 'preferredUsername'],
    [undefined, 'preferredUsername'],
  ])('for Accept: %s spells it %s', async (accept, field) => {
    const { ask } = await serve(() => admit());
    const { body, headers } = await ask('/me', { headers: accept === undefined ? {} : { accept } });
    expect(JSON.parse(body)).toHaveProperty(field, 'ada');
    expect(headers['content-type']).toBe('application/json');
  });

  it('keeps two identities apart, and the two spellings of one', async () => {
    const [one, other] = [createIdentity('one'), createIdentity('other')];
    const { ask } = await serve((request) =>
      admit(request.headers['x-which'] === 'other' ? other : one),
    );
    for (const [which, accept] of [
      ['one', '*/*'],
      ['other', '*/*'],
      ['one', 'application/json'],
      ['other', 'application/json'],
      ['one', '*/*'],
    ] as const) {
      const { headers, body } = await ask('/me', { headers: { 'x-which': which, accept } });
      expect(headers['x-user-claim-groups']).toBe(which);
      expect(JSON.parse(body)).toHaveProperty(
        accept === '*/*' ? 'additionalClaims' : 'additional_claims',
        { groups: which },
      );
    }
  });

  it('sets the cookie only when it slides, and then once', async () => {
    const { ask } = await serve((request) =>
      admit(createIdentity(), request.headers['x-slide'] === undefined ? undefined : SLID),
    );
    expect((await ask()).headers['set-cookie']).toBeUndefined();
    expect((await ask('/me', { headers: { 'x-slide': '1' } })).headers['set-cookie']).toEqual([
      SLID,
    ]);
    expect((await ask()).headers['set-cookie']).toBeUndefined();
  });

  it.each(['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])(
    'answers %s alike: some ingresses keep the caller’s method',
    async (method) => {
      const { ask } = await serve(() => admit());
      const { status, body } = await ask('/me', { method });
      expect(status).toBe(200);
      expect(JSON.parse(body)).toMatchObject({ subject: 'ada-subject' });
    },
  );

  it('answers HEAD without a body, with the length it would have', async () => {
    const { ask } = await serve(() => admit());
    const { status, headers, body } = await ask('/me', { method: 'HEAD' });
    expect(status).toBe(200);
    expect(body).toBe('');
    expect(Number(headers['content-length'])).toBeGreaterThan(100);
    expect(headers['x-user-subject']).toBe('ada-subject');
  });

  it('waits for a verdict that has to be decided', async () => {
    const { ask } = await serve(async () => admit());
    expect((await ask()).status).toBe(200);
  });

  it('keeps status line and headers below 3,500 bytes for the largest identity that is accepted, cookie included', async () => {
    let length = 1;
    while (createIdentity('g'.repeat(length + 1)) !== 'claims_overflow') length += 1;
    const { askForHead } = await serve(() => admit(createIdentity('g'.repeat(length)), SLID));
    const head = await askForHead();
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(head).toContain('g'.repeat(length));
    expect(head).toContain(SLID);
    expect(head.length).toBeGreaterThan(2_900);
    expect(head.length).toBeLessThan(3_500);
  });
});

describe('GET /me for other callers', () => {
  it.each([
    [{ outcome: 'refused', reason: 'no_credential' }, 401],
    [{ outcome: 'refused', reason: 'not_allowed', user: ADA }, 403],
    [{ outcome: 'refused', reason: 'cross_site', user: ADA }, 403],
    [{ outcome: 'undecided', reason: 'store_unavailable', retryAfterSeconds: 3 }, 503],
  ] as readonly (readonly [Verdict, number])[])(
    'answers %j with %d, a problem document and nothing of an identity',
    async (verdict, expected) => {
      for (const answer of [() => verdict, async () => verdict]) {
        const { ask } = await serve(answer);
        const { status, headers, body } = await ask('/me', {
          headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate' },
        });
        expect(status).toBe(expected);
        expect(headers['content-type']).toBe('application/problem+json');
        expect(JSON.parse(body)).toMatchObject({
          status: expected,
          reason: verdict.outcome === 'admitted' ? '' : verdict.reason,
        });
        expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-accel-expires': '0' });
        expect(headers['set-cookie']).toBeUndefined();
        expect(Object.keys(headers).filter((name) => name.startsWith('x-user-'))).toEqual([]);
        expect(headers['retry-after']).toBe(expected === 503 ? '3' : undefined);
      }
    },
  );

  it('never answers gRPC with 200: an ingress would take that for an admission', async () => {
    const { ask } = await serve(() => ({ outcome: 'refused', reason: 'no_credential' }));
    const { status } = await ask('/me', {
      method: 'POST',
      headers: { 'content-type': 'application/grpc' },
    });
    expect(status).toBe(401);
  });

  it('spells the sign-in address of the original target on 401', async () => {
    const { ask } = await serve(() => ({ outcome: 'refused', reason: 'no_credential' }));
    const { headers } = await ask('/me', {
      headers: { 'x-original-uri': '/console?a=1&b=//evil' },
    });
    expect(headers.location).toBe(
      'https://flow.example/login?redirect_url=%2Fconsole%3Fa%3D1%26b%3D%2F%2Fevil',
    );
    expect((await ask()).headers.location).toBe('https://flow.example/login?redirect_url=%2F');
  });

  it('keeps a harmless request id, and never one that is not', async () => {
    const { ask } = await serve(() => ({ outcome: 'refused', reason: 'no_credential' }));
    expect((await ask('/me', { headers: { 'x-request-id': 'abcdefgh' } })).body).toContain(
      '"request_id":"abcdefgh"',
    );
    expect((await ask('/me', { headers: { 'x-request-id': '<b>abcdefgh' } })).body).not.toContain(
      '<b>',
    );
  });
});

describe('what the check is asked', () => {
  it('is about the caller’s method where an ingress names it, else about the request’s own', async () => {
    const { ask, seen } = await serve(() => admit());
    await ask('/me', { headers: { 'x-original-method': 'post' } });
    await ask('/me', { method: 'DELETE' });
    await ask('/me', { headers: { 'x-original-method': ['GET', 'POST'] } });
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'DELETE', 'GET, POST']);
  });

  it('is about all headers, repeated ones included, on the transport that they show', async () => {
    const { ask, seen } = await serve(() => admit());
    await ask('/me', { headers: { authorization: ['Bearer a', 'Bearer b'], cookie: 'c=d' } });
    await ask('/me', { headers: { 'content-type': 'application/grpc+proto' } });
    expect(seen[0]?.headers.cookie).toBe('c=d');
    expect(seen[0]?.rawHeaders.filter((value) => value.startsWith('Bearer'))).toEqual([
      'Bearer a',
      'Bearer b',
    ]);
    expect(seen.map(({ transport }) => transport)).toEqual(['http', 'grpc']);
  });

  it('names the address of the original request, for the log, and not the one of /me', async () => {
    const { ask, seen } = await serve(() => admit());
    await ask('/me', { headers: { 'x-original-uri': '/projects/one?a=b' } });
    await ask('/me?mine');
    expect(seen.map(({ target }) => target)).toEqual(['/projects/one?a=b', undefined]);
  });
});

describe('the path', () => {
  it.each(['/me', '/me?', '/me?x=/login', '/me?redirect_url=//evil'])(
    'is answered for %s, the query ignored',
    async (path) => {
      const { ask } = await serve(() => admit());
      expect((await ask(path)).status).toBe(200);
    },
  );

  it.each([
    '/',
    '/mexico',
    '/me/',
    '/me/x',
    '/ME',
    '/%6de',
    '//me',
    '/x/me',
    '/?/me',
    '/me;x',
    '/me%3f',
  ])('is left to the next one for %s, and the check is not asked', async (path) => {
    const { ask, seen } = await serve(() => admit());
    expect((await ask(path)).body).toBe('next');
    expect(seen).toEqual([]);
  });
});

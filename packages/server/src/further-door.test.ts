import { createRouteMatcher, ROUTE_GROUPS } from '@sallyport/protocol';
import { COOKIE, PUBLIC } from '@sallyport/testing/server/check';
import { LIFETIMES, OPEN_RULES } from '@sallyport/testing/server/people';
import { createSignInUnderTest } from '@sallyport/testing/server/sign-in';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAdminServer } from './admin-server.ts';
import { answerByVerdict } from './doors/answer-by-verdict.ts';
import type { HttpDoor } from './doors/door.ts';
import { HTTP_DOORS } from './doors/http-doors.ts';
import { createIssuers } from './issuer/issuers.ts';
import { createMetadataSource } from './issuer/metadata/authorization-server-metadata.ts';
import { openListeners } from './listener/open-listeners.ts';
import type { LogFields } from './log/log.ts';
import { createVerdictLog } from './observe/log/sampled-verdicts.ts';
import { combineObservers } from './observe/verdict-observer.ts';
import type { Verdict } from './verdict/verdict.ts';

// What a newcomer writes, `doors/plain.ts`: a door that answers 200 or 401 as plain text.

const plainDoor: HttpDoor = {
  name: 'plain',
  handler:
    ({ check }) =>
    (req, res) => {
      if (req.url !== '/plain') return false;
      answerByVerdict(check, req, res, ({ outcome }) => ({
        status: outcome === 'admitted' ? 200 : 401,
        headers: { 'content-type': 'text/plain' },
        body: outcome === 'admitted' ? 'yes\n' : 'no\n',
      }));
      return true;
    },
};

/** The same behind an ingress that asks about another request. */
const subrequestDoor: HttpDoor = {
  name: 'subrequest',
  handler:
    ({ check }) =>
    (req, res) => {
      if (req.url !== '/subrequest') return false;
      const { 'x-forwarded-method': method, 'x-forwarded-uri': target } = req.headers;
      const shape = ({ outcome }: Verdict) => ({
        status: outcome === 'admitted' ? 200 : 401,
        body: '',
      });
      answerByVerdict(check, req, res, shape, {
        method: String(method),
        target: typeof target === 'string' ? target : undefined,
      });
      return true;
    },
};

// And the line of registration, in `doors/http-doors.ts`.
const DOORS = [...HTTP_DOORS, plainDoor];

/** Says by what address it would count its caller. */
const addressDoor: HttpDoor = {
  name: 'address',
  needsForwardedHeaders: true,
  handler:
    ({ addressOf }) =>
    (req, res) => {
      if (req.url !== '/address') return false;
      res.end(addressOf(req));
      return true;
    },
};

const FOUR_DOORS = ['me', 'status', 'service', 'gateway'];

/** The whole authentication on a port of its own, with Ada signed in. */
async function start(
  doors: readonly HttpDoor[],
  more: { readonly trustedProxies?: readonly string[] } = {},
) {
  const { dependencies, store, source, clock, signIn } = createSignInUnderTest();
  const shared = { fetch: away, now: clock.now, schedule: () => () => {}, log: () => {} };
  const issuers = createIssuers(shared);
  const metadata = createMetadataSource({ ...shared, issuers, folder: undefined });
  const seen: [string, Verdict['outcome']][] = [];
  const logged: (LogFields | undefined)[] = [];
  const verdicts = createVerdictLog({
    log: (_level, _event, fields) => logged.push(fields),
    sampleSuccesses: 1,
    random: () => 0,
    schedule: shared.schedule,
  });
  const admin = createAdminServer({
    publicUrl: new URL(PUBLIC),
    redirectOrigins: [],
    landing: '/',
    trustedProxies: [],
    cookie: { sameSite: 'Lax', domain: '' },
    lifetimes: LIFETIMES,
    renewalsPerSecond: 1,
    bearer: {
      httpAuthorizationHeader: 'core-http',
      grpcAuthorizationHeader: 'core-grpc',
      onlyConfiguredHeader: true,
      accepts: { issuers: [], requiredScopes: [], sessionClientIds: [], interactiveClientIds: [] },
      subjectPrefix: '',
    },
    access: OPEN_RULES,
    claimHeaders: [],
    stripHeaders: [],
    idpQueryParameter: '',
    rateLimitPerMinute: 60,
    matchRoute: createRouteMatcher(ROUTE_GROUPS),
    metadata: {
      authorizationServer: metadata.of('https://idp.example'),
      signInServer: metadata.of('https://idp.example'),
      publicClient: {
        clientId: 'native',
        redirectUri: 'http://localhost:53593/callback',
        scopes: [],
        audience: '',
        authorizationMetadataKey: 'core-grpc',
        serviceHttpEndpoint: PUBLIC,
      },
    },
    store,
    keyRing: source,
    relyingParty: dependencies.relyingParty,
    issuers,
    ...shared,
    audit: () => {},
    onVerdict: combineObservers(
      (door, { outcome }) => seen.push([door, outcome]),
      verdicts.observe,
    ),
    doors,
    ...more,
  });
  const { ports, close } = await openListeners({
    http: { handler: admin.handlers.http, port: 0, host: '127.0.0.1', timeouts: { drainMs: 100 } },
  });
  onTestFinished(async () => {
    admin.stopping();
    await close();
    await admin.close();
  });
  const { cookie } = await signIn();
  return { admin, seen, logged, port: ports.http, cookie: `${COOKIE}=${cookie}` };
}

async function ask(port: number, path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return { status: answer.status, body: await answer.text(), headers: answer.headers };
}

const away = () => Promise.reject(new Error('away'));

describe('A further door', () => {
  it('is one file and one line: it answers 200 or 401 as plain text', async () => {
    const { port, cookie, seen } = await start(DOORS);
    const admitted = await ask(port, '/plain', { cookie });
    expect([admitted.status, admitted.body]).toEqual([200, 'yes\n']);
    expect(admitted.headers.get('cache-control')).toBe('no-store');
    const refused = await ask(port, '/plain', { cookie: `${cookie}x` });
    expect([refused.status, refused.body]).toEqual([401, 'no\n']);
    expect(seen).toEqual([
      ['plain', 'admitted'],
      ['plain', 'refused'],
    ]);
  });

  it('takes no path from the other doors, and is asked for nothing there', async () => {
    const { port, cookie, seen } = await start(DOORS);
    expect((await ask(port, '/me', { cookie })).status).toBe(200);
    expect((await ask(port, '/healthz')).status).toBe(200);
    expect(seen).toEqual([['me', 'admitted']]);
  });

  it.each([
    ['/me', { 'x-original-method': 'PUT', 'x-original-uri': '/projects/one?a=b' }],
    ['/subrequest', { 'x-forwarded-method': 'PUT', 'x-forwarded-uri': '/projects/one?a=b' }],
  ])(
    'asked by an ingress on %s logs method and path of the original request',
    async (path, headers) => {
      const { port, cookie, logged } = await start([...HTTP_DOORS, subrequestDoor]);
      await ask(port, path, { cookie, ...headers });
      await ask(port, path, { cookie: `${cookie}x`, ...headers });
      expect(logged.map((line) => [line?.['method'], line?.['path']])).toEqual([
        ['PUT', '/projects/one'],
        ['PUT', '/projects/one'],
      ]);
    },
  );

  it('that knows the path itself logs that one, whatever headers of an ingress say', async () => {
    const { port, logged } = await start(DOORS);
    const forged = { 'x-original-method': 'PUT', 'x-original-uri': '/theirs' };
    await ask(port, '/plain', forged);
    expect(logged.map((line) => [line?.['method'], line?.['path']])).toEqual([['GET', '/plain']]);
  });

  it('that is not registered answers nothing', async () => {
    const { port, cookie, admin } = await start(HTTP_DOORS);
    expect((await ask(port, '/plain', { cookie })).status).toBe(404);
    expect([...admin.doorNames].toSorted()).toEqual(FOUR_DOORS.toSorted());
  });

  it('is counted under its own name', async () => {
    const { admin } = await start(DOORS);
    expect([...admin.doorNames].toSorted()).toEqual([...FOUR_DOORS, 'plain'].toSorted());
  });

  it.each([
    ['a name of another door', 'me'],
    ['a name that is no label', 'Plain door'],
    ['no name', ''],
  ])('with %s is a mistake', async (_, name) => {
    await expect(start([...HTTP_DOORS, { ...plainDoor, name }])).rejects.toThrow(TypeError);
  });
});

describe('A door that needs forwarded headers', () => {
  it('refuses to start without trustedProxies', async () => {
    await expect(start([...HTTP_DOORS, addressDoor])).rejects.toMatchObject({
      code: 'SP_CONFIG_INVALID',
      message: expect.stringContaining('trustedProxies is empty, and the door address') as unknown,
    });
  });

  it('starts with trustedProxies, and reads the address that they forward', async () => {
    const { port } = await start([...HTTP_DOORS, addressDoor], { trustedProxies: ['127.0.0.1'] });
    const forwarded = { 'x-forwarded-for': '203.0.113.7' };
    expect((await ask(port, '/address', forwarded)).body).toBe('203.0.113.7');
  });

  it('does not believe a peer that is no trusted proxy', async () => {
    const { port } = await start([...HTTP_DOORS, addressDoor], { trustedProxies: ['192.0.2.1'] });
    const forwarded = { 'x-forwarded-for': '203.0.113.7' };
    expect((await ask(port, '/address', forwarded)).body).toBe('127.0.0.1');
  });

  it('is no reason for the others: they start without trustedProxies', async () => {
    const { port } = await start(DOORS);
    expect((await ask(port, '/plain')).status).toBe(401);
  });
});

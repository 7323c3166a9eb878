import { accept, refuse } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import { KeyRing } from '../session/key-ring.ts';
import { Sessions } from '../session/sessions.ts';
import { COOKIE, createCheckUnderTest, PUBLIC } from '../testing/check.ts';
import { ADA_SIGNS_IN, LIFETIMES, OPEN_RULES, TOKENS } from '../testing/people.ts';
import { RingInMemory } from '../testing/ring.ts';
import { DOWN } from '../testing/watched-store.ts';
import { createCheck } from '../verdict/check.ts';
import { createSessionVerifier } from '../verdict/session-verifier.ts';
import { Attempts } from './attempt.ts';
import { createCallback } from './callback.ts';
import { createLogin } from './login.ts';
import { createLogout } from './logout.ts';
import type { RelyingParty } from './relying-party.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import type { SignInRequest } from './sign-in-request.ts';

const UNUSABLE: unknown = expect.objectContaining({ code: 'SP_KEY_RING_UNUSABLE' });

/** The three endpoints over a real store, an IdP that signs Ada in, and a count of what the IdP was asked. */
function setup() {
  const bench = createCheckUnderTest();
  const asked: string[] = [];
  const relyingParty: RelyingParty = {
    isReady: () => true,
    endSessionOrigin: () => undefined,
    authorizationUrl: async ({ state }) => {
      asked.push('authorize');
      return accept(new URL(`https://idp.example/authorize?state=${state}`));
    },
    exchange: async () => {
      asked.push('exchange');
      const claims = { iss: ADA_SIGNS_IN.principal.issuer, sub: ADA_SIGNS_IN.principal.subject };
      return { ok: true, value: { tokens: TOKENS, claims, accessTokenLifeMs: undefined } };
    },
    endSessionUrl: async () => {
      asked.push('end session');
      return undefined;
    },
    refresh: async () => refuse({ reason: 'unavailable', cause: undefined }),
    revoke: async () => {
      asked.push('revoke');
      return true;
    },
    verifyLogoutToken: async () => refuse({ reason: 'idp_unreachable' }),
    close: () => {},
  };
  const { ring, cookies } = bench.sessionDependencies;
  const dependencies: SignInDependencies = {
    redirects: { publicOrigin: PUBLIC, redirectOrigins: new Set(), landing: `${PUBLIC}/` },
    cookies,
    check: bench.check,
    sessions: bench.sessions,
    store: bench.store,
    ring,
    attempts: new Attempts({ ring, cookies, now: bench.clock.now }),
    relyingParty,
    access: () => OPEN_RULES,
    claimHeaders: [],
    idpQueryParameter: 'idp',
    isProtectedPath: () => true,
    log: () => {},
    audit: () => {},
  };
  return { ...bench, asked, dependencies };
}

/** The same endpoints after a restart at which the key ring cannot be read. */
function restartWithoutRing({ clock, store, dependencies }: ReturnType<typeof setup>) {
  const source = new RingInMemory();
  source.failure = new Error('unreadable');
  const ring = new KeyRing(source, { now: clock.now, onChange: () => {}, onProblem: () => {} });
  const sessions = new Sessions({ store, ring, now: clock.now, lifetimes: LIFETIMES });
  const other = createCheckUnderTest();
  const check = createCheck({
    ...other.dependencies,
    sessions: createSessionVerifier({ ...other.sessionDependencies, ring, sessions, store }),
  });
  const attempts = new Attempts({ ring, cookies: dependencies.cookies, now: clock.now });
  return { ...dependencies, ring, sessions, check, attempts };
}

function request(query: string, headers: SignInRequest['headers'], method = 'GET'): SignInRequest {
  return {
    method,
    query: new URLSearchParams(query),
    headers,
    rawHeaders: Object.entries(headers).flatMap(([name, value]) => [name, String(value)]),
    address: '192.0.2.1',
    requestId: 'request-0001',
  };
}

/** Starts a sign-in; gives the callback's query and the cookie that belongs to it. */
async function start({ dependencies }: ReturnType<typeof setup>) {
  const response = await createLogin(dependencies)(request('', {}));
  const state = new URL(response.headers.get('location') ?? '').searchParams.get('state') ?? '';
  const cookie = (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  return { query: `code=c&state=${state}`, cookie };
}

describe('/callback', () => {
  it('signs in when nothing is down', async () => {
    const bench = setup();
    const { query, cookie } = await start(bench);
    const response = await createCallback(bench.dependencies)(request(query, { cookie }));
    expect(response.status).toBe(302);
    expect(response.headers.get('set-cookie')).toContain(`${COOKIE}=`);
    expect(bench.asked).toEqual(['authorize', 'exchange']);
  });

  it('uses up nothing while the store is down, so that the same answer signs in later', async () => {
    const bench = setup();
    const { query, cookie } = await start(bench);
    const callback = createCallback(bench.dependencies);
    bench.store.isDown = true;
    await expect(callback(request(query, { cookie }))).rejects.toBe(DOWN);
    expect(bench.asked).toEqual(['authorize']);
    bench.store.isDown = false;
    const response = await callback(request(query, { cookie }));
    expect(response.headers.get('set-cookie')).toContain(`${COOKIE}=`);
  });

  it('does not take a sign-in for gone while the key ring cannot be read', async () => {
    const bench = setup();
    const { query, cookie } = await start(bench);
    const callback = createCallback(restartWithoutRing(bench));
    await expect(callback(request(query, { cookie }))).rejects.toEqual(UNUSABLE);
    expect(bench.asked).toEqual(['authorize']);
  });
});

describe('/login', () => {
  it('says 503 while it cannot tell whether somebody is signed in, and starts nothing', async () => {
    const bench = setup();
    const { cookie } = await bench.signIn();
    bench.store.isDown = true;
    const response = await createLogin(bench.dependencies)(
      request('', { cookie: `${COOKIE}=${cookie}` }),
    );
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(bench.asked).toEqual([]);
  });

  it('goes straight to the target when it can tell', async () => {
    const bench = setup();
    const { cookie } = await bench.signIn();
    const response = await createLogin(bench.dependencies)(
      request('redirect_url=/x', { cookie: `${COOKIE}=${cookie}` }),
    );
    expect(response.headers.get('location')).toBe(`${PUBLIC}/x`);
    expect(bench.asked).toEqual([]);
  });
});

describe('/logout', () => {
  const own = (cookie: string) =>
    request('', { cookie: `${COOKIE}=${cookie}`, origin: PUBLIC }, 'POST');

  it('signs out when nothing is down: the session is over, the cookie cleared', async () => {
    const bench = setup();
    const { cookie } = await bench.signIn();
    const response = await createLogout(bench.dependencies)(own(cookie));
    expect(response.headers.get('set-cookie')).toContain(`${COOKIE}=; `);
    expect(await bench.ask(cookie)).toEqual({ outcome: 'refused', reason: 'signed_out' });
    expect(bench.asked).toEqual(['revoke', 'end session']);
  });

  it('says nothing of a sign-out and clears nothing while the store is down', async () => {
    const bench = setup();
    const { cookie } = await bench.signIn();
    bench.store.isDown = true;
    await expect(createLogout(bench.dependencies)(own(cookie))).rejects.toBe(DOWN);
    bench.store.isDown = false;
    expect(await bench.ask(cookie)).toMatchObject({ outcome: 'admitted' });
    expect(bench.asked).toEqual([]);
  });

  it('does not take a session for none, and clear its cookie, while the key ring cannot be read', async () => {
    const bench = setup();
    const { cookie } = await bench.signIn();
    await expect(createLogout(restartWithoutRing(bench))(own(cookie))).rejects.toEqual(UNUSABLE);
    expect(await bench.ask(cookie)).toMatchObject({ outcome: 'admitted' });
    expect(bench.asked).toEqual([]);
  });
});

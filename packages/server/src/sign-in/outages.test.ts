import { COOKIE, createCheckUnderTest, PUBLIC } from '@sallyport/testing/server/check';
import { LIFETIMES } from '@sallyport/testing/server/people';
import { RingInMemory } from '@sallyport/testing/server/ring';
import {
  createSignInUnderTest,
  type SignInUnderTest,
  startSignIn,
  toSignInRequest,
} from '@sallyport/testing/server/sign-in';
import { DOWN } from '@sallyport/testing/server/watched-store';
import { describe, expect, it } from 'vitest';
import { KeyRing } from '../session/key-ring.ts';
import { Sessions } from '../session/sessions.ts';
import { createCheck } from '../verdict/check.ts';
import { createSessionVerifier } from '../verdict/session-verifier.ts';
import { Attempts } from './attempt.ts';
import { createCallback } from './callback.ts';
import { createLogin } from './login.ts';
import { createLogout } from './logout.ts';

const UNUSABLE: unknown = expect.objectContaining({ code: 'SP_KEY_RING_UNUSABLE' });

/** The same endpoints after a restart at which the key ring cannot be read. */
function restartWithoutRing({ clock, store, dependencies }: SignInUnderTest) {
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

describe('/callback', () => {
  it('signs in when nothing is down', async () => {
    const bench = createSignInUnderTest();
    const { query, cookie } = await startSignIn(bench);
    const response = await createCallback(bench.dependencies)(toSignInRequest(query, { cookie }));
    expect(response.status).toBe(302);
    expect(response.headers.get('set-cookie')).toContain(`${COOKIE}=`);
    expect(bench.asked).toEqual(['authorize', 'exchange']);
  });

  it('uses up nothing while the store is down, so that the same answer signs in later', async () => {
    const bench = createSignInUnderTest();
    const { query, cookie } = await startSignIn(bench);
    const callback = createCallback(bench.dependencies);
    bench.store.isDown = true;
    await expect(callback(toSignInRequest(query, { cookie }))).rejects.toBe(DOWN);
    expect(bench.asked).toEqual(['authorize']);
    bench.store.isDown = false;
    const response = await callback(toSignInRequest(query, { cookie }));
    expect(response.headers.get('set-cookie')).toContain(`${COOKIE}=`);
  });

  it('does not take a sign-in for gone while the key ring cannot be read', async () => {
    const bench = createSignInUnderTest();
    const { query, cookie } = await startSignIn(bench);
    const callback = createCallback(restartWithoutRing(bench));
    await expect(callback(toSignInRequest(query, { cookie }))).rejects.toEqual(UNUSABLE);
    expect(bench.asked).toEqual(['authorize']);
  });
});

describe('/login', () => {
  it('says 503 while it is undecided whether a person is signed in, and starts nothing', async () => {
    const bench = createSignInUnderTest();
    const { cookie } = await bench.signIn();
    bench.store.isDown = true;
    const response = await createLogin(bench.dependencies)(
      toSignInRequest('', { cookie: `${COOKIE}=${cookie}` }),
    );
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(bench.asked).toEqual([]);
  });

  it('goes straight to the target when it can decide', async () => {
    const bench = createSignInUnderTest();
    const { cookie } = await bench.signIn();
    const response = await createLogin(bench.dependencies)(
      toSignInRequest('redirect_url=/x', { cookie: `${COOKIE}=${cookie}` }),
    );
    expect(response.headers.get('location')).toBe(`${PUBLIC}/x`);
    expect(bench.asked).toEqual([]);
  });
});

describe('/logout', () => {
  const own = (cookie: string) =>
    toSignInRequest('', { cookie: `${COOKIE}=${cookie}`, origin: PUBLIC }, 'POST');

  it('signs out when nothing is down: the session is over, the cookie cleared', async () => {
    const bench = createSignInUnderTest();
    const { cookie } = await bench.signIn();
    const response = await createLogout(bench.dependencies)(own(cookie));
    expect(response.headers.get('set-cookie')).toContain(`${COOKIE}=; `);
    expect(await bench.ask(cookie)).toEqual({ outcome: 'refused', reason: 'signed_out' });
    expect(bench.asked).toEqual(['revoke', 'end session']);
  });

  it('says nothing of a sign-out and clears nothing while the store is down', async () => {
    const bench = createSignInUnderTest();
    const { cookie } = await bench.signIn();
    bench.store.isDown = true;
    await expect(createLogout(bench.dependencies)(own(cookie))).rejects.toBe(DOWN);
    bench.store.isDown = false;
    expect(await bench.ask(cookie)).toMatchObject({ outcome: 'admitted' });
    expect(bench.asked).toEqual([]);
  });

  it('does not take a session for none, and clear its cookie, while the key ring cannot be read', async () => {
    const bench = createSignInUnderTest();
    const { cookie } = await bench.signIn();
    await expect(createLogout(restartWithoutRing(bench))(own(cookie))).rejects.toEqual(UNUSABLE);
    expect(await bench.ask(cookie)).toMatchObject({ outcome: 'admitted' });
    expect(bench.asked).toEqual([]);
  });
});

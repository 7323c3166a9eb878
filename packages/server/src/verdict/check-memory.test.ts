import { COOKIE, createCheckUnderTest, toRequest } from '@sallyport/testing/server/check';
import {
  ADA_SIGNS_IN,
  LIFETIMES,
  TOKENS,
  UNASKED_LIFETIMES,
} from '@sallyport/testing/server/people';
import { createRingKey, openRing, RingInMemory } from '@sallyport/testing/server/ring';
import { DOWN } from '@sallyport/testing/server/watched-store';
import { describe, expect, it } from 'vitest';
import { Sessions } from '../session/sessions.ts';
import { createCheck } from './check.ts';
import { createSessionVerifier } from './session-verifier.ts';

describe('remembering', () => {
  it('decides once, then answers from memory and synchronously', async () => {
    const { check, ask, signIn, store } = createCheckUnderTest();
    const { cookie } = await signIn();
    expect(check(toRequest({ cookie: `${COOKIE}=${cookie}` }))).toBeInstanceOf(Promise);
    const first = await ask(cookie);
    const before = store.reads;
    const again = check(toRequest({ cookie: `${COOKIE}=${cookie}` }));
    expect(again).toEqual(first);
    expect(again).not.toBeInstanceOf(Promise);
    expect(store.reads).toBe(before);
  });

  it('does not remember refusals: a session that begins is admitted at once', async () => {
    const { ask, signIn, elsewhere, store } = createCheckUnderTest();
    const { id, cookie } = await signIn();
    const stored = await elsewhere.read(id);
    await elsewhere.revoke(id);
    expect(await ask(cookie)).toMatchObject({ reason: 'signed_out' });
    if (stored !== undefined) await elsewhere.create(stored, undefined);
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
    expect(store.reads).toBe(2);
  });

  it('reads the store again after five minutes', async () => {
    const { ask, signIn, clock, store } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    clock.advance(299_999);
    await ask(cookie);
    expect(store.reads).toBe(1);
    clock.advance(1);
    await ask(cookie);
    expect(store.reads).toBe(2);
  });

  it('ends with its session, also when the store was read a moment before', async () => {
    const { ask, signIn, clock, sessions, store } = createCheckUnderTest({
      lifetimes: UNASKED_LIFETIMES,
    });
    const { id, cookie } = await signIn({ accessTokenLifeMs: undefined });
    clock.advance(LIFETIMES.absoluteMs - 60_000);
    await sessions.noteUse(id, clock.now());
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
    clock.advance(59_999);
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
    expect(store.reads).toBe(1);
    clock.advance(1);
    expect(await ask(cookie)).toEqual({ outcome: 'refused', reason: 'session_expired' });
  });

  it('ends when it was idle for too long, also when the store was read a moment before', async () => {
    const { ask, signIn, clock } = createCheckUnderTest();
    const { cookie } = await signIn({ tokens: { ...TOKENS, refreshToken: undefined } });
    // A page's timer asks: that is no use.
    const watch = () => ask(cookie, { isPassive: true });
    clock.advance(LIFETIMES.withoutRefreshTokenIdleMs - 1_000);
    expect(await watch()).toMatchObject({ outcome: 'admitted' });
    clock.advance(999);
    expect(await watch()).toMatchObject({ outcome: 'admitted' });
    clock.advance(1);
    expect(await watch()).toEqual({ outcome: 'refused', reason: 'session_expired' });
  });

  it('reads the store again when the clock was set back', async () => {
    const { ask, signIn, clock, store } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    clock.advance(-3_600_000);
    await ask(cookie);
    expect(store.reads).toBe(2);
  });

  it('forgets everything when the generation changes', async () => {
    const { ask, signIn, store, generation } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    generation.bump();
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
    await ask(cookie);
    expect(store.reads).toBe(2);
  });

  it('does not keep a verdict made while the generation changed', async () => {
    const { ask, signIn, store, generation } = createCheckUnderTest();
    const { cookie } = await signIn();
    const { promise, resolve } = Promise.withResolvers<void>();
    store.held = promise;
    const pending = ask(cookie);
    generation.bump();
    resolve();
    expect(await pending).toMatchObject({ outcome: 'admitted' });
    store.held = undefined;
    await ask(cookie);
    expect(store.reads).toBe(2);
  });
});

describe('revocation', () => {
  it('ends a remembered verdict at once in its own process', async () => {
    const { ask, signIn, sessions } = createCheckUnderTest();
    const [gone, stays] = [await signIn(), await signIn()];
    await ask(gone.cookie);
    await ask(stays.cookie);
    await sessions.end(gone.cookie);
    expect(await ask(gone.cookie)).toEqual({ outcome: 'refused', reason: 'signed_out' });
    expect(await ask(stays.cookie)).toMatchObject({ outcome: 'admitted' });
  });

  it('by another process ends a remembered verdict within 250 ms, and no other one', async () => {
    const { ask, signIn, clock, elsewhere, store } = createCheckUnderTest();
    const [gone, stays] = [await signIn(), await signIn()];
    await ask(gone.cookie);
    await ask(stays.cookie);
    await elsewhere.revoke(gone.id);
    clock.advance(250);
    const before = store.reads;
    expect(await ask(gone.cookie)).toEqual({ outcome: 'refused', reason: 'signed_out' });
    expect(await ask(stays.cookie)).toMatchObject({ outcome: 'admitted' });
    expect(store.reads - before).toBe(1);
  });

  it('by a new sign-in ends the verdict of the session it replaces', async () => {
    const { ask, signIn, sessions } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    const begun = await sessions.begin(ADA_SIGNS_IN, [cookie]);
    expect(await ask(cookie)).toEqual({ outcome: 'refused', reason: 'session_replaced' });
    expect(await ask(begun.cookieValue)).toMatchObject({ outcome: 'admitted' });
  });

  it.each([
    ['in this process', 'store'],
    ['in another process', 'elsewhere'],
  ] as const)('between a read and its remembering is not lost (%s)', async (_, where) => {
    const { ask, signIn, clock, ...all } = createCheckUnderTest();
    const [gone, other] = [await signIn(), await signIn()];
    await ask(other.cookie);
    const { promise, resolve } = Promise.withResolvers<void>();
    all.store.held = promise;
    const isRead = new Promise<void>((read) => {
      all.store.onHeld = read;
    });
    const pending = ask(gone.cookie);
    all.store.held = undefined;
    await isRead;
    await all[where].revoke(gone.id);
    clock.advance(250);
    // Another request hears of the revocation while the first one still waits.
    await ask(other.cookie);
    resolve();
    expect(await pending).toMatchObject({ outcome: 'admitted' });
    expect(await ask(gone.cookie)).toEqual({ outcome: 'refused', reason: 'signed_out' });
  });

  it('between a read and its remembering takes effect afterwards', async () => {
    const { ask, signIn, clock, store, elsewhere } = createCheckUnderTest();
    const gone = await signIn();
    await ask((await signIn()).cookie);
    const { promise, resolve } = Promise.withResolvers<void>();
    store.held = promise;
    const pending = ask(gone.cookie);
    await elsewhere.revoke(gone.id);
    resolve();
    await pending;
    clock.advance(250);
    expect(await ask(gone.cookie)).toEqual({ outcome: 'refused', reason: 'signed_out' });
  });

  it('that may have been missed has everything forgotten', async () => {
    const { ask, signIn, store } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    await ask(cookie);
    expect(store.reads).toBe(1);
    store.hasMissedSome = true;
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
    await ask(cookie);
    expect(store.reads).toBe(2);
  });

  it('of no session leaves what was read in between remembered', async () => {
    const { ask, signIn, clock, store } = createCheckUnderTest();
    const [one, other] = [await signIn(), await signIn()];
    await ask(other.cookie);
    const { promise, resolve } = Promise.withResolvers<void>();
    store.held = promise;
    const pending = ask(one.cookie);
    clock.advance(250);
    await ask(other.cookie);
    resolve();
    await pending;
    const before = store.reads;
    expect(await ask(one.cookie)).toMatchObject({ outcome: 'admitted' });
    expect(store.reads).toBe(before);
  });

  it('of a whole key, by taking it out of the ring, ends what it sealed within a second', async () => {
    const { ask, signIn, clock, source, sessions } = createCheckUnderTest();
    const { cookie } = await signIn();
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
    source.replace([createRingKey('b')]);
    clock.advance(1_000);
    expect(await ask(cookie)).toEqual({ outcome: 'refused', reason: 'session_unknown' });
    const begun = await sessions.begin(ADA_SIGNS_IN, []);
    expect(await ask(begun.cookieValue)).toMatchObject({ outcome: 'admitted' });
  });

  it('of a key whose time is over ends what it sealed within a second, remembered or not', async () => {
    const { ask, signIn, clock, source } = createCheckUnderTest();
    source.replace([createRingKey('a', { opensUntil: clock.now() + 60_000 })]);
    clock.advance(1_000);
    const { cookie } = await signIn();
    clock.advance(58_000);
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
    clock.advance(1_000);
    expect(await ask(cookie)).toEqual({ outcome: 'refused', reason: 'session_unknown' });
  });

  it('is not what adding a key does: all sessions stay', async () => {
    const { ask, signIn, clock, source } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    source.replace([createRingKey('a'), createRingKey('b')]);
    clock.advance(1_000);
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
  });
});

describe('an outage', () => {
  it('of the store leaves everything undecided, remembered verdicts included, and admits no request', async () => {
    const { ask, signIn, store, outages } = createCheckUnderTest();
    const [remembered, unseen] = [await signIn(), await signIn()];
    await ask(remembered.cookie);
    store.isDown = true;
    const undecided = { outcome: 'undecided', reason: 'store_unavailable', retryAfterSeconds: 7 };
    expect(await ask(remembered.cookie)).toEqual(undecided);
    expect(await ask(unseen.cookie)).toEqual(undecided);
    expect(outages).toEqual([DOWN, DOWN]);
    expect(await ask(undefined)).toEqual({ outcome: 'refused', reason: 'no_credential' });
    store.isDown = false;
    expect(await ask(remembered.cookie)).toMatchObject({ outcome: 'admitted' });
    expect(await ask(unseen.cookie)).toMatchObject({ outcome: 'admitted' });
  });

  it('of the real store leaves a remembered verdict undecided as soon as it is looked at again', async () => {
    const { ask, signIn, clock, store } = createCheckUnderTest();
    const { cookie } = await signIn();
    await ask(cookie);
    store.close();
    clock.advance(250);
    expect(await ask(cookie)).toMatchObject({ outcome: 'undecided', retryAfterSeconds: 1 });
  });

  it('of the key ring at start leaves every session undecided, and ends none', async () => {
    const { ask, signIn, clock, store, dependencies, sessionDependencies } = createCheckUnderTest();
    const { cookie } = await signIn();
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
    const source = new RingInMemory();
    source.failure = new Error('unreadable');
    const { ring } = openRing(source, clock);
    const sessions = new Sessions({ store, ring, now: clock.now, lifetimes: LIFETIMES });
    const restarted = createCheck({
      ...dependencies,
      sessions: createSessionVerifier({ ...sessionDependencies, ring, sessions }),
    });
    const request = toRequest({ cookie: `${COOKIE}=${cookie}` });
    expect(await restarted(request)).toMatchObject({ outcome: 'undecided', retryAfterSeconds: 5 });
    source.failure = undefined;
    clock.advance(1_000);
    expect(await restarted(request)).toMatchObject({ outcome: 'admitted' });
  });

  it('that is a fault of ours is undecided too, thrown or rejected', async () => {
    const { signIn, ask, rules, outages } = createCheckUnderTest();
    const { cookie } = await signIn();
    const fault = new TypeError('a fault of ours');
    Object.defineProperty(rules, 'current', {
      get: () => {
        throw fault;
      },
    });
    expect(await ask(cookie)).toEqual({
      outcome: 'undecided',
      reason: 'store_unavailable',
      retryAfterSeconds: 1,
    });
    const hostile: unknown = { get: () => null };
    expect(
      await ask(cookie, { rawHeaders: hostile as string[], headers: null as never }),
    ).toMatchObject({ outcome: 'undecided' });
    expect(outages).toHaveLength(2);
  });
});

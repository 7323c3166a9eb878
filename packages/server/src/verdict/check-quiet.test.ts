import { COOKIE, createCheckUnderTest, PUBLIC, toRequest } from '@sallyport/testing/server/check';
import { ADA, LIFETIMES, OPEN_RULES, TOKENS } from '@sallyport/testing/server/people';
import { passUntil, RefreshTokensInMemory } from '@sallyport/testing/server/renewal';
import { ClockTimers, settled } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it } from 'vitest';
import { NO_REQUEST } from '../audit/audit.ts';
import { RenewalBudget } from '../session/renewal/renewal-budget.ts';
import { Renewals } from '../session/renewal/renewals.ts';
import { selectAccessClaims } from './access.ts';
import { createCheck } from './check.ts';
import type { CheckRequest } from './check-request.ts';
import { createSessionVerifier } from './session-verifier.ts';

const MINUTE = 60_000;
/** Of the plan: due before eight minutes have passed, confirmed for ten, counting for fifteen. */
const CONFIRMED_MS = LIFETIMES.revalidateAfterMs;
const COUNTS_MS = CONFIRMED_MS + LIFETIMES.renewalGraceMs;

/** Checks of several processes with real renewals, against an IdP under the hand of the test. */
function setup() {
  const bench = createCheckUnderTest();
  const { clock, store, dependencies, sessionDependencies, rules } = bench;
  const timers = new ClockTimers(clock);
  const idp = new RefreshTokensInMemory();
  const createProcess = () => {
    const verifier = createSessionVerifier(sessionDependencies);
    const renewals = new Renewals({
      ...{ store, ring: sessionDependencies.ring, tokens: idp, lifetimes: LIFETIMES },
      budget: new RenewalBudget({
        now: clock.now,
        random: () => 0,
        perSecond: 100,
        atOnce: 16,
        listening: 16,
      }),
      keepClaims: (claims) => ({ user: ADA, claims: selectAccessClaims(claims, rules.current) }),
      ...{ now: clock.now, schedule: timers.schedule, random: () => 0 },
      onChanged: (id) => verifier.forget(id),
      originOf: () => NO_REQUEST,
      log: () => {},
      audit: () => {},
    });
    const check = createCheck({ ...dependencies, sessions: verifier, renewals });
    const request = (cookies: readonly string[], more: Partial<CheckRequest>) =>
      toRequest({ cookie: cookies.map((value) => `${COOKIE}=${value}`).join('; ') }, more);
    return {
      renewals,
      /** The verdict, or a promise of it: it is remembered, or not. */
      ask: (cookie: string, more: Partial<CheckRequest> = {}) => check(request([cookie], more)),
      show: async (...cookies: readonly string[]) =>
        passUntil(timers, (async () => check(request(cookies, {})))()),
      poll: async (cookie: string) =>
        passUntil(timers, (async () => check(request([cookie], { isPassive: true })))()),
    };
  };
  return {
    ...bench,
    ...{ timers, idp, createProcess },
    one: createProcess(),
    signInWith: async (refreshToken: string = idp.issue()) =>
      bench.signIn({ tokens: { ...TOKENS, refreshToken } }),
    takeTime: (ms: number) => {
      idp.deliver = async (answer) => {
        await new Promise<void>((wake) => timers.schedule(ms, wake));
        return answer;
      };
    },
  };
}

const ADMITTED = { outcome: 'admitted' };
const SHUT_OUT = { outcome: 'refused', reason: 'renewal_refused' };

describe('a session that was not in use when its confirmation ran out', () => {
  it.each([
    ['remembered', true],
    ['not remembered', false],
  ])(
    'is refused at once when the IdP has shut the person out and it is %s',
    async (_, isRemembered) => {
      const { one, signInWith, clock } = setup();
      const { cookie } = await signInWith('unknown');
      if (isRemembered) expect(await one.show(cookie)).toMatchObject(ADMITTED);
      clock.advance(CONFIRMED_MS);
      expect(await one.show(cookie)).toEqual(SHUT_OUT);
    },
  );

  it('is so in every process that remembers it: none admits it once', async () => {
    const { one, createProcess, signInWith, clock } = setup();
    const processes = [one, createProcess(), createProcess()];
    const { cookie } = await signInWith('unknown');
    for (const each of processes) expect(await each.show(cookie)).toMatchObject(ADMITTED);
    clock.advance(CONFIRMED_MS);
    for (const each of processes) expect(await each.show(cookie)).toEqual(SHUT_OUT);
  });

  it('is admitted as the renewed one, by one flight of 200 requests at once', async () => {
    const { one, signInWith, clock, timers, idp, takeTime } = setup();
    const { id, cookie } = await signInWith();
    await one.show(cookie);
    clock.advance(CONFIRMED_MS);
    takeTime(50);
    const all = Array.from({ length: 200 }, async () => one.ask(cookie));
    for (const verdict of await passUntil(timers, Promise.all(all)))
      expect(verdict).toMatchObject({ ...ADMITTED, session: { id, generation: 2 } });
    expect(idp.asked).toHaveLength(1);
  });

  it('a millisecond before that is admitted at once, and renewed behind the request', async () => {
    const { one, signInWith, clock, timers } = setup();
    const { cookie } = await signInWith('unknown');
    await one.show(cookie);
    clock.advance(CONFIRMED_MS - 1);
    // From the store: it is remembered for five minutes.
    const verdict = await one.ask(cookie);
    expect(verdict).toMatchObject({ ...ADMITTED, renewal: 'due' });
    await passUntil(timers, one.renewals.settle());
    expect(await one.show(cookie)).toEqual(SHUT_OUT);
  });

  it('waits two seconds at most for an IdP that does not answer, and is then admitted as long as it counts', async () => {
    const { one, signInWith, clock, timers, takeTime } = setup();
    const { cookie } = await signInWith();
    takeTime(60_000);
    clock.advance(CONFIRMED_MS);
    const asked = clock.now();
    expect(await one.show(cookie)).toMatchObject({ ...ADMITTED, session: { generation: 1 } });
    expect(clock.now() - asked).toBe(2_000);
    // In use from now on: at once, from memory.
    expect(one.ask(cookie)).toMatchObject(ADMITTED);
    await passUntil(timers, one.renewals.settle());
    expect(await one.show(cookie)).toMatchObject({ ...ADMITTED, session: { generation: 2 } });
  });

  it('does not wait for an IdP that is away, and is undecided once it counts no longer', async () => {
    const { one, signInWith, clock, idp } = setup();
    const { cookie } = await signInWith();
    idp.isAway = true;
    clock.advance(COUNTS_MS - MINUTE);
    const asked = clock.now();
    expect(await one.show(cookie)).toMatchObject(ADMITTED);
    expect(clock.now() - asked).toBeLessThan(1_000);
    clock.advance(MINUTE);
    expect(await one.show(cookie)).toMatchObject({ reason: 'renewal_unavailable' });
  });

  it('that counts no longer when the two seconds are over is not admitted', async () => {
    const { one, signInWith, clock, takeTime } = setup();
    const { cookie } = await signInWith();
    takeTime(60_000);
    clock.advance(COUNTS_MS - 1_000);
    expect(await one.show(cookie)).toMatchObject({
      outcome: 'undecided',
      reason: 'renewal_unavailable',
    });
  });

  it('is asked about also when only a page of ours asks, which is no use of it', async () => {
    const { one, signInWith, clock, store, timers, idp, takeTime } = setup();
    const [out, fine] = [await signInWith('unknown'), await signInWith()];
    clock.advance(CONFIRMED_MS);
    expect(await one.poll(out.cookie)).toEqual(SHUT_OUT);
    takeTime(60_000);
    expect(await one.poll(fine.cookie)).toMatchObject(ADMITTED);
    expect(store.touches).toEqual([]);
    // No request waits a second time for a slow answer.
    const asked = clock.now();
    expect(await one.poll(fine.cookie)).toMatchObject(ADMITTED);
    expect(clock.now()).toBe(asked);
    await passUntil(timers, one.renewals.settle());
    expect(idp.asked).toHaveLength(2);
  });

  it('is judged by the access rules with its new claims', async () => {
    const { one, signInWith, clock, rules, idp } = setup();
    rules.current = { ...OPEN_RULES, groups: ['engineers'] };
    const { cookie } = await signInWith();
    expect(await one.show(cookie)).toMatchObject(ADMITTED);
    idp.claims = { groups: ['guests'] };
    clock.advance(CONFIRMED_MS);
    expect(await one.show(cookie)).toMatchObject({ outcome: 'refused', reason: 'not_allowed' });
  });

  it('is undecided while the store cannot be read, and never admitted from memory', async () => {
    const { one, signInWith, clock, store } = setup();
    const { cookie } = await signInWith();
    await one.show(cookie);
    clock.advance(CONFIRMED_MS);
    store.isDown = true;
    expect(await one.show(cookie)).toMatchObject({ reason: 'store_unavailable' });
    store.isDown = false;
    expect(await one.show(cookie)).toMatchObject(ADMITTED);
  });

  it('without a refresh token is admitted: the IdP cannot be asked about it', async () => {
    const { one, signIn, clock, idp } = setup();
    const { cookie } = await signIn({ tokens: { ...TOKENS, refreshToken: undefined } });
    clock.advance(CONFIRMED_MS);
    expect(await one.show(cookie)).toMatchObject({ ...ADMITTED, renewal: undefined });
    expect(idp.asked).toEqual([]);
  });

  it('gives a write of another site no way in by being confirmed', async () => {
    const { one, signInWith, clock, timers } = setup();
    const { cookie } = await signInWith();
    clock.advance(CONFIRMED_MS);
    const headers = { cookie: `${COOKIE}=${cookie}`, origin: 'https://evil.example' };
    const write = async () => one.ask(cookie, { ...toRequest(headers), method: 'POST' });
    expect(await passUntil(timers, write())).toMatchObject({ reason: 'cross_site' });
    const own = { ...toRequest({ ...headers, origin: PUBLIC }), method: 'POST' };
    expect(await passUntil(timers, (async () => one.ask(cookie, own))())).toMatchObject(ADMITTED);
  });

  it('beside another one of the same browser: only the one that was asked about is admitted without an answer', async () => {
    const { one, signInWith, clock, takeTime, idp } = setup();
    const [out, other] = [await signInWith('unknown'), await signInWith()];
    clock.advance(CONFIRMED_MS);
    // The first is refused; the IdP has not been asked about the other yet.
    expect(await one.show(out.cookie, other.cookie)).toMatchObject({
      outcome: 'undecided',
      reason: 'renewal_unavailable',
    });
    expect(idp.asked).toEqual(['unknown']);
    expect(await one.show(out.cookie, other.cookie)).toMatchObject({
      ...ADMITTED,
      session: { id: other.id, generation: 2 },
    });
    clock.advance(CONFIRMED_MS);
    takeTime(60_000);
    expect(await one.show(out.cookie, other.cookie)).toMatchObject(ADMITTED);
  });
});

describe('a session in steady use', () => {
  it('is renewed behind a request, and no request waits for that', async () => {
    const { one, signInWith, clock, idp, takeTime, timers } = setup();
    const { cookie } = await signInWith();
    await one.show(cookie);
    takeTime(300);
    for (let count = 0; count < 24; count += 1) {
      clock.advance(MINUTE / 2);
      const verdict = one.ask(cookie);
      // It is read from the store when it was remembered for five minutes, and after its renewal.
      if (!(verdict instanceof Promise)) expect(verdict).toMatchObject(ADMITTED);
      const before = clock.now();
      expect(await verdict).toMatchObject(ADMITTED);
      expect(clock.now()).toBe(before);
      await passUntil(timers, one.renewals.settle());
    }
    expect(idp.asked).toHaveLength(1);
  });

  it('while the IdP is away is admitted from memory at every request but the first of each process', async () => {
    const { one, createProcess, signInWith, clock, idp, timers, store } = setup();
    const other = createProcess();
    const { id, cookie } = await signInWith();
    idp.isAway = true;
    clock.advance(CONFIRMED_MS - 1);
    for (const each of [one, other]) expect(await each.show(cookie)).toMatchObject(ADMITTED);
    clock.advance(1);
    // The first one is noted, however soon it comes after another, so that the other process knows of it.
    expect(one.ask(cookie)).toBeInstanceOf(Promise);
    expect(await one.show(cookie)).toMatchObject(ADMITTED);
    expect(store.touches.at(-1)).toEqual([id, clock.now()]);
    const asked = idp.asked.length;
    expect(await other.show(cookie)).toMatchObject(ADMITTED);
    for (const each of [one, other]) await passUntil(timers, each.renewals.settle());
    for (let count = 0; count < 4; count += 1) {
      clock.advance(50_000);
      for (const each of [one, other]) {
        const verdict = each.ask(cookie);
        expect(verdict).not.toBeInstanceOf(Promise);
        expect(verdict).toMatchObject(ADMITTED);
        await passUntil(timers, each.renewals.settle());
      }
    }
    expect(idp.asked.length).toBeGreaterThan(asked);
  });

  it('is asked about first again when it is not used for two minutes, though it was since the confirmation ran out', async () => {
    const { one, signInWith, clock, idp, timers } = setup();
    const { cookie } = await signInWith();
    idp.isAway = true;
    clock.advance(CONFIRMED_MS);
    expect(await one.show(cookie)).toMatchObject(ADMITTED);
    clock.advance(2 * MINUTE - 30_000);
    expect(one.ask(cookie)).toMatchObject(ADMITTED);
    await settled();
    idp.isAway = false;
    idp.revokeAll();
    clock.advance(2 * MINUTE);
    const verdict = (async () => one.ask(cookie))();
    expect(one.ask(cookie)).toBeInstanceOf(Promise);
    await passUntil(timers, verdict);
    await passUntil(timers, one.renewals.settle());
    expect(await one.show(cookie)).toMatchObject({ outcome: 'refused' });
  });
});

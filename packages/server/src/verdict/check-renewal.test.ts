import { refuse } from '@sallyport/protocol';
import { COOKIE, createCheckUnderTest, PUBLIC, toRequest } from '@sallyport/testing/server/check';
import { ADA, ADA_SIGNS_IN, LIFETIMES, OPEN_RULES, TOKENS } from '@sallyport/testing/server/people';
import { passUntil, RefreshTokensInMemory } from '@sallyport/testing/server/renewal';
import { ClockTimers } from '@sallyport/testing/time/clock-timers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_REQUEST } from '../audit/audit.ts';
import type { RefreshRefusal } from '../issuer/token-refresh.ts';
import { RenewalBudget } from '../session/renewal/renewal-budget.ts';
import { Renewals } from '../session/renewal/renewals.ts';
import { selectAccessClaims } from './access.ts';
import { type CheckDependencies, createCheck } from './check.ts';
import type { SessionVerifier } from './session-verifier.ts';
import type { Admitted, Overdue, Refused, Unconfirmed, Undecided, Verdict } from './verdict.ts';

const RUNS = process.env['CI'] === undefined ? 300 : 3_000;
const { renewalGraceMs, revalidateAfterMs } = LIFETIMES;
const COUNTS_FOR_MS = revalidateAfterMs + renewalGraceMs;
const UNAVAILABLE: Undecided = {
  outcome: 'undecided',
  reason: 'renewal_unavailable',
  retryAfterSeconds: 1,
};

/** The check with real renewals against an IdP under the hand of the test. */
function setup() {
  const bench = createCheckUnderTest();
  const { clock, store, rules, dependencies, sessionDependencies } = bench;
  const timers = new ClockTimers(clock);
  const idp = new RefreshTokensInMemory();
  const { sessions: verifier } = dependencies;
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
    onChanged: (id) => verifier?.forget(id),
    originOf: () => NO_REQUEST,
    log: () => {},
    audit: () => {},
  });
  const check = createCheck({ ...dependencies, renewals });
  const toCookies = (values: readonly string[]) =>
    values.map((value) => `${COOKIE}=${value}`).join('; ');
  return {
    ...bench,
    ...{ timers, idp, renewals, check },
    /** Asks with these cookie values, all of one name. */
    show: async (...values: readonly string[]) =>
      passUntil(timers, (async () => check(toRequest({ cookie: toCookies(values) })))()),
    signInWith: async (refreshToken: string | undefined = idp.issue()) =>
      bench.signIn({ tokens: { ...TOKENS, refreshToken } }),
  };
}

describe('a session that is due', () => {
  const DUE_MS = 480_000;

  it('is admitted at once, and renewed meanwhile: the next request sees the renewed one', async () => {
    const { check, show, signInWith, clock, idp, renewals, timers } = setup();
    const { id, cookie } = await signInWith();
    clock.advance(DUE_MS * 0.8);
    await show(cookie);
    clock.advance(DUE_MS * 0.2);
    const { promise, resolve } = Promise.withResolvers<void>();
    idp.deliver = async (answer) => {
      await promise;
      return answer;
    };
    const verdict = check(toRequest({ cookie: `${COOKIE}=${cookie}` }));
    expect(verdict).not.toBeInstanceOf(Promise);
    expect(verdict).toMatchObject({ outcome: 'admitted', session: { id, generation: 1 } });
    expect(await show(cookie)).toMatchObject({ outcome: 'admitted', session: { generation: 1 } });
    resolve();
    await passUntil(timers, renewals.settle());
    expect(idp.asked).toHaveLength(1);
    expect(await show(cookie)).toMatchObject({ outcome: 'admitted', session: { generation: 2 } });
    await renewals.settle();
    expect(idp.asked).toHaveLength(1);
  });

  it('is one also when it is read from the store', async () => {
    const { show, signInWith, clock, idp, renewals } = setup();
    const { cookie } = await signInWith();
    clock.advance(DUE_MS);
    expect(await show(cookie)).toMatchObject({ outcome: 'admitted', renewal: 'due' });
    await renewals.settle();
    expect(idp.asked).toHaveLength(1);
  });

  it.each([
    ['before its time', DUE_MS * 0.8, undefined],
    ['without a refresh token', DUE_MS, null],
  ])('is not one %s: the IdP is not asked', async (_, afterMs, token) => {
    const { show, signIn, signInWith, clock, idp, renewals } = setup();
    const { cookie } =
      token === null
        ? await signIn({ tokens: { ...TOKENS, refreshToken: undefined } })
        : await signInWith();
    clock.advance(afterMs);
    expect(await show(cookie)).toMatchObject({ outcome: 'admitted', renewal: undefined });
    await renewals.settle();
    expect(idp.asked).toEqual([]);
  });

  it('that the IdP refuses is over at the next request, with the reason', async () => {
    const { show, signInWith, clock, renewals } = setup();
    const { cookie } = await signInWith('unknown');
    await show(cookie);
    clock.advance(DUE_MS);
    expect(await show(cookie)).toMatchObject({ outcome: 'admitted' });
    await renewals.settle();
    expect(await show(cookie)).toEqual({ outcome: 'refused', reason: 'renewal_refused' });
  });

  it('is admitted while the IdP is away, as long as it counts, and renewed once it is back', async () => {
    const { show, signInWith, clock, idp, renewals, timers } = setup();
    const { cookie } = await signInWith();
    const begun = clock.now();
    idp.isAway = true;
    for (let ms = DUE_MS; ms < COUNTS_FOR_MS; ms += 20_000) {
      clock.set(begun + ms);
      expect(await show(cookie), `after ${ms} ms`).toMatchObject({ outcome: 'admitted' });
      await passUntil(timers, renewals.settle());
    }
    idp.isAway = false;
    clock.set(begun + COUNTS_FOR_MS - 1);
    expect(await show(cookie)).toMatchObject({ outcome: 'admitted', session: { generation: 1 } });
    await passUntil(timers, renewals.settle());
    expect(await show(cookie)).toMatchObject({ outcome: 'admitted', session: { generation: 2 } });
  });
});

describe('a session that counts no longer unasked', () => {
  it.each([
    ['remembered', true],
    ['not remembered', false],
  ])('is not admitted when it is %s, to the millisecond', async (_, isRemembered) => {
    const { show, signInWith, clock, idp } = setup();
    const { cookie } = await signInWith();
    idp.isAway = true;
    const endsAt = clock.now() + COUNTS_FOR_MS;
    clock.set(endsAt - 30_000);
    if (isRemembered) expect(await show(cookie)).toMatchObject({ outcome: 'admitted' });
    clock.set(endsAt - 1);
    if (isRemembered) expect(await show(cookie)).toMatchObject({ outcome: 'admitted' });
    clock.set(endsAt);
    expect(await show(cookie)).toMatchObject({
      outcome: 'undecided',
      reason: 'renewal_unavailable',
    });
  });

  it('waits for its renewal, and is then admitted as the renewed one', async () => {
    const { show, signInWith, clock, timers, idp } = setup();
    const { id, cookie } = await signInWith();
    clock.advance(COUNTS_FOR_MS);
    idp.deliver = async (answer) => {
      await new Promise<void>((wake) => timers.schedule(5_000, wake));
      return answer;
    };
    const verdicts = await Promise.all(Array.from({ length: 30 }, async () => show(cookie)));
    for (const verdict of verdicts)
      expect(verdict).toMatchObject({ outcome: 'admitted', session: { id, generation: 2 } });
    expect(idp.asked).toHaveLength(1);
  });

  it('is refused with the reason when the IdP refuses it', async () => {
    const { show, signInWith, clock } = setup();
    const { cookie } = await signInWith('unknown');
    clock.advance(COUNTS_FOR_MS);
    expect(await show(cookie)).toEqual({ outcome: 'refused', reason: 'renewal_refused' });
  });

  it('is refused by the rules when its new claims no longer pass them', async () => {
    const { show, signInWith, clock, rules, idp } = setup();
    const { cookie } = await signInWith();
    rules.current = { ...OPEN_RULES, groups: ['engineers'] };
    expect(await show(cookie)).toMatchObject({ outcome: 'admitted' });
    idp.claims = { ...ADA_SIGNS_IN.claims, groups: ['guests'] };
    clock.advance(COUNTS_FOR_MS);
    expect(await show(cookie)).toEqual({ outcome: 'refused', reason: 'not_allowed', user: ADA });
  });

  it('stays undecided, never refused, while the IdP is away, and is admitted once it is back', async () => {
    const { show, signInWith, clock, idp } = setup();
    const { cookie } = await signInWith();
    idp.isAway = true;
    clock.advance(COUNTS_FOR_MS);
    expect(await show(cookie)).toEqual(UNAVAILABLE);
    clock.advance(3_600_000);
    expect(await show(cookie)).toMatchObject({ reason: 'renewal_unavailable' });
    idp.isAway = false;
    clock.advance(60_000);
    expect(await show(cookie)).toMatchObject({ outcome: 'admitted', session: { generation: 2 } });
  });

  it.each<readonly [string, RefreshRefusal]>([
    [
      'answers what does not pass a check',
      { reason: 'unverified', check: 'signature', refreshToken: 'refresh-token-1' },
    ],
    ['does not take the request', { reason: 'rejected', cause: new Error('invalid_client') }],
  ])(
    'stays undecided, never refused, while the IdP %s, and is admitted afterwards',
    async (_, why) => {
      const { show, signInWith, clock, idp } = setup();
      const { cookie } = await signInWith();
      idp.isRotating = false;
      idp.deliver = () => refuse(why);
      clock.advance(COUNTS_FOR_MS);
      expect(await show(cookie)).toEqual(UNAVAILABLE);
      clock.advance(3_600_000);
      expect(await show(cookie)).toEqual(UNAVAILABLE);
      idp.deliver = (answer) => answer;
      clock.advance(60_000);
      expect(await show(cookie)).toMatchObject({ outcome: 'admitted' });
    },
  );

  it('is undecided while the store is down, in whole or for the renewal alone, and admitted afterwards', async () => {
    const { show, signInWith, clock, store } = setup();
    const { cookie } = await signInWith();
    clock.advance(COUNTS_FOR_MS);
    const { lease } = store;
    Object.assign(store, { lease: async () => Promise.reject(new Error('down')) });
    expect(await show(cookie)).toEqual(UNAVAILABLE);
    Object.assign(store, { lease });
    store.isDown = true;
    expect(await show(cookie)).toMatchObject({ reason: 'store_unavailable' });
    store.isDown = false;
    expect(await show(cookie)).toMatchObject({ outcome: 'admitted', session: { generation: 2 } });
  });

  it('is undecided in a service that does not renew', async () => {
    const { ask, signIn, clock } = createCheckUnderTest();
    const { cookie } = await signIn();
    clock.advance(COUNTS_FOR_MS - 1);
    expect(await ask(cookie)).toMatchObject({ outcome: 'admitted' });
    clock.advance(1);
    expect(await ask(cookie)).toEqual(UNAVAILABLE);
  });

  it('does not outlive its idle time: it is expired, and the IdP is not asked', async () => {
    const { show, signInWith, clock, idp } = setup();
    const { cookie } = await signInWith();
    clock.advance(LIFETIMES.idleTimeoutMs);
    expect(await show(cookie)).toEqual({ outcome: 'refused', reason: 'session_expired' });
    expect(idp.asked).toEqual([]);
  });

  it('gives a write of another site no way in by being renewed', async () => {
    const { check, signInWith, clock, timers } = setup();
    const { cookie } = await signInWith();
    clock.advance(COUNTS_FOR_MS);
    const write = (origin: string) =>
      passUntil(
        timers,
        (async () =>
          check(toRequest({ cookie: `${COOKIE}=${cookie}`, origin }, { method: 'POST' })))(),
      );
    expect(await write('https://evil.example')).toEqual({
      outcome: 'refused',
      reason: 'cross_site',
      user: ADA,
    });
    expect(await write(PUBLIC)).toMatchObject({ outcome: 'admitted' });
  });
});

describe('two cookies of one name', () => {
  const PLANTED = `AAAAAAAB.${'A'.repeat(43)}`;

  it('have the session among them renewed, wherever it stands', async () => {
    for (const isFirst of [true, false]) {
      const { show, signInWith, clock, idp } = setup();
      const { id, cookie } = await signInWith();
      clock.advance(COUNTS_FOR_MS);
      const values = isFirst ? [cookie, PLANTED] : [PLANTED, cookie];
      expect(await show(...values)).toMatchObject({
        outcome: 'admitted',
        session: { id, generation: 2 },
      });
      expect(idp.asked).toHaveLength(1);
    }
  });

  it('wait for the IdP by the overdue one, wherever it stands, when the other is no session', async () => {
    const { show, signInWith, clock, idp } = setup();
    const { cookie } = await signInWith();
    idp.isAway = true;
    clock.advance(COUNTS_FOR_MS);
    for (const values of [
      [cookie, PLANTED],
      [PLANTED, cookie],
    ])
      expect(await show(...values)).toEqual(UNAVAILABLE);
  });

  it('of the same id, one with another secret, have it renewed too', async () => {
    const { show, signInWith, clock } = setup();
    const { cookie } = await signInWith();
    clock.advance(COUNTS_FOR_MS);
    const planted = `${cookie.slice(0, 9)}${'A'.repeat(43)}`;
    expect(await show(planted)).toEqual({ outcome: 'refused', reason: 'session_unknown' });
    expect(await show(planted, cookie)).toMatchObject({ outcome: 'admitted' });
  });

  it('admit at once by the one that counts while the other is overdue and the IdP away', async () => {
    const { show, signInWith, clock, idp } = setup();
    const overdue = await signInWith();
    clock.advance(COUNTS_FOR_MS);
    const good = await signInWith();
    idp.isAway = true;
    for (const values of [
      [overdue.cookie, good.cookie],
      [good.cookie, overdue.cookie],
    ])
      expect(await show(...values)).toMatchObject({
        outcome: 'admitted',
        session: { id: good.id },
      });
    expect(await show(overdue.cookie)).toMatchObject({ reason: 'renewal_unavailable' });
  });

  it('admit by the one that stands when the other is refused by its renewal', async () => {
    const { show, signInWith, clock } = setup();
    const refused = await signInWith('unknown');
    clock.advance(COUNTS_FOR_MS);
    const stands = await signInWith();
    expect(await show(refused.cookie, stands.cookie)).toMatchObject({
      outcome: 'admitted',
      session: { id: stands.id },
    });
  });
});

/** What a verifier and renewals may do to a check; some of it they never should. */
type Deed<T> =
  | { readonly does: 'gives'; readonly value: T }
  | { readonly does: 'rejects' }
  | { readonly does: 'throws' };

function deed<T>(values: fc.Arbitrary<T>): fc.Arbitrary<Deed<T>> {
  return fc.oneof(
    { weight: 4, arbitrary: values.map((value) => ({ does: 'gives' as const, value })) },
    fc.constant({ does: 'rejects' as const }),
    fc.constant({ does: 'throws' as const }),
  );
}

/** Not `async`: a deed may throw before there is a promise. */
function perform<T>(what: Deed<T>): Promise<T> {
  switch (what.does) {
    case 'gives':
      return Promise.resolve(what.value);
    case 'rejects':
      return Promise.reject(new Error('rejected'));
    case 'throws':
      throw new Error('thrown');
  }
}

describe('whatever the renewals and the verifier do', () => {
  const OVERDUE: Overdue = { outcome: 'overdue', id: 1, generation: 1 };
  const UNCONFIRMED: Unconfirmed = { outcome: 'unconfirmed', id: 1, generation: 1 };
  const REFUSED: Refused = { outcome: 'refused', reason: 'renewal_refused' };
  const UNDECIDED: Undecided = {
    outcome: 'undecided',
    reason: 'store_unavailable',
    retryAfterSeconds: 1,
  };

  async function admittedOnce(): Promise<Admitted> {
    const { ask, signIn } = createCheckUnderTest();
    const verdict = await ask((await signIn()).cookie);
    if (verdict.outcome !== 'admitted') throw new Error(verdict.reason);
    return verdict;
  }

  it('no request is admitted without a decision that admits, and nothing is thrown', async () => {
    const admitted = await admittedOnce();
    const due: Admitted = { ...admitted, renewal: 'due' };
    const { dependencies } = createCheckUnderTest();
    const verdicts = fc.constantFrom<Verdict | Unconfirmed | Overdue>(
      ...[admitted, due, OVERDUE, UNCONFIRMED, REFUSED, UNDECIDED],
    );
    const nothing = fc.constantFrom(undefined, null);
    const decisions = deed(fc.oneof({ weight: 4, arbitrary: verdicts }, nothing));
    const waits = deed(fc.constantFrom<unknown>(undefined, 1, 0, -1, Number.NaN, null, 'x'));
    const starts = fc.constantFrom<Deed<undefined>>(
      { does: 'gives', value: undefined },
      { does: 'throws' },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(decisions, { minLength: 4, maxLength: 4 }),
        waits,
        waits,
        starts,
        async (planned, wait, confirmed, start) => {
          const given: unknown[] = [];
          const verifier: SessionVerifier = {
            recall: () => undefined,
            decide: async () => {
              const next = planned[given.length] ?? { does: 'rejects' as const };
              given.push(next.does === 'gives' ? next.value : undefined);
              // Nothing at all among them: what a fault of ours might bring.
              return (await perform(next)) as Verdict;
            },
            forget: () => {},
          };
          const renewals: CheckDependencies['renewals'] = {
            start: () => {
              if (start.does === 'throws') throw new Error('thrown');
            },
            confirm: () => perform(confirmed) as Promise<undefined>,
            finish: () => perform(wait) as Promise<number | undefined>,
          };
          const check = createCheck({ ...dependencies, sessions: verifier, renewals });
          const verdict = await check(
            toRequest({ cookie: `${COOKIE}=AAAAAAAB.${'A'.repeat(43)}` }),
          );
          expect(['admitted', 'refused', 'undecided']).toContain(verdict.outcome);
          if (verdict.outcome === 'admitted') expect(verdict).toBe(given.at(-1));
          // Asked once more at most after each renewal that was waited for, and only then.
          const [first, second] = given;
          const waited = first === UNCONFIRMED ? [first, second] : [first];
          const isWaitedFor = (each: unknown) => each === UNCONFIRMED || each === OVERDUE;
          expect(given.length).toBeLessThanOrEqual(1 + waited.filter(isWaitedFor).length);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('a decision that admits does admit: the property above is not empty', async () => {
    const admitted = await admittedOnce();
    const { dependencies } = createCheckUnderTest();
    const planned: (Verdict | Unconfirmed | Overdue)[] = [
      ...[OVERDUE, admitted, UNCONFIRMED, admitted, UNCONFIRMED, OVERDUE, admitted],
    ];
    const verifier: SessionVerifier = {
      recall: () => undefined,
      decide: async () => planned.shift() ?? REFUSED,
      forget: () => {},
    };
    const renewals: CheckDependencies['renewals'] = {
      start: () => {},
      confirm: async () => {},
      finish: async () => undefined,
    };
    const check = createCheck({ ...dependencies, sessions: verifier, renewals });
    const request = toRequest({ cookie: `${COOKIE}=AAAAAAAB.${'A'.repeat(43)}` });
    for (let count = 0; count < 3; count += 1) expect(await check(request)).toBe(admitted);
    expect(await check(request)).toBe(REFUSED);
  });

  it('a memory that admits what is due needs no renewal to do so, and one that throws admits no request', async () => {
    const admitted = await admittedOnce();
    const { dependencies } = createCheckUnderTest();
    const started: unknown[] = [];
    const verifier = (recall: SessionVerifier['recall']): SessionVerifier => ({
      recall,
      decide: async () => REFUSED,
      forget: () => {},
    });
    const renewals: CheckDependencies['renewals'] = {
      start: (values, seen) => started.push([values, seen]),
      confirm: async () => Promise.reject(new Error('asked')),
      finish: async () => Promise.reject(new Error('asked')),
    };
    const value = `AAAAAAAB.${'A'.repeat(43)}`;
    const request = toRequest({ cookie: `${COOKIE}=${value}` });
    const due: Admitted = { ...admitted, renewal: 'due' };
    const remembering = createCheck({ ...dependencies, sessions: verifier(() => due), renewals });
    expect(remembering(request)).toBe(due);
    expect(started).toEqual([[[value], admitted.session]]);
    const broken = createCheck({
      ...dependencies,
      sessions: verifier(() => {
        throw new Error('thrown');
      }),
      renewals,
    });
    expect(broken(request)).toMatchObject({ outcome: 'undecided' });
  });
});

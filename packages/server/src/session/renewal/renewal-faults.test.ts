import { refuse, SallyportError } from '@sallyport/protocol';
import { TOKENS } from '@sallyport/testing/server/people';
import {
  createRenewalBench,
  holdAnswer,
  passUntil,
  type RenewalBench,
  type RenewingProcess,
  type SignedIn,
  setupTwo,
} from '@sallyport/testing/server/renewal';
import { createRingKey } from '@sallyport/testing/server/ring';
import { NOON } from '@sallyport/testing/time/clock';
import { settled } from '@sallyport/testing/time/clock-timers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../session-store.ts';
import type { RenewalOutcome } from './renewal.ts';

const RUNS = process.env['CI'] === undefined ? 60 : 600;
const BY_US: RenewalOutcome = { kind: 'renewed', byUs: true };
const BY_ANOTHER: RenewalOutcome = { kind: 'renewed', byUs: false };

describe('a process that dies while it renews', () => {
  it('before it sends: the next one sends after eight seconds, once', async () => {
    const { clock, timers, idp, ada, other, createProcess, sessions } = await setupTwo();
    const begun = clock.now();
    const dying = createProcess((store) => ({
      ...store,
      noteRenewalSent: () => new Promise(() => {}),
    }));
    void dying.renew(ada);
    await settled();
    dying.freeze();
    const next = other.renew(ada);
    await settled();
    await timers.advance(7_900);
    expect(idp.asked).toEqual([]);
    expect(await passUntil(timers, next)).toEqual(BY_US);
    // The other process does not wait for an answer: nothing had left.
    expect(clock.now() - begun).toBeLessThanOrEqual(8_100);
    expect(idp.asked).toEqual(['refresh-token-1']);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
  });

  it('before it sends, and was only asleep: it sends nothing any more, since the lease is another’s', async () => {
    const { timers, idp, ada, other, createProcess } = await setupTwo();
    const { promise: awake, resolve: wake } = Promise.withResolvers<void>();
    const sleeping = createProcess((store) => ({
      ...store,
      async noteRenewalSent(...call) {
        await awake;
        return store.noteRenewalSent(...call);
      },
    }));
    const late = sleeping.renew(ada);
    await settled();
    sleeping.freeze();
    const release = holdAnswer({ idp });
    const next = other.renew(ada);
    await settled();
    await timers.advance(9_000);
    expect(idp.asked).toHaveLength(1);
    // The generation is still the one it knows.
    wake();
    expect(await late).toEqual(BY_ANOTHER);
    release();
    expect(await passUntil(timers, next)).toEqual(BY_US);
    expect(idp.asked).toEqual(['refresh-token-1']);
    expect(sleeping.sent).toEqual([]);
  });

  it('after it has sent: the next one waits for twenty seconds, and two more for a late answer, then sends', async () => {
    const { timers, idp, ada, one, other } = await setupTwo();
    idp.deliver = () => new Promise(() => {});
    void one.renew(ada);
    await settled();
    one.freeze();
    const next = other.renew(ada);
    await settled();
    await timers.advance(21_900);
    expect(idp.asked).toHaveLength(1);
    await timers.advance(200);
    expect(idp.asked).toHaveLength(2);
    await timers.advance(60_000);
    // Its own lease is kept as long as it waits.
    expect(idp.asked).toHaveLength(2);
    void next;
  });

  it('after it has sent, and writes in those two seconds after all: no second request', async () => {
    const { timers, idp, ada, one, other, sessions } = await setupTwo();
    const release = holdAnswer({ idp });
    const late = one.renew(ada);
    await settled();
    one.freeze();
    const next = other.renew(ada);
    await settled();
    await timers.advance(21_000);
    release();
    expect(await late).toEqual(BY_US);
    expect(await passUntil(timers, next)).toEqual(BY_ANOTHER);
    expect(idp.asked).toEqual(['refresh-token-1']);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
  });

  it('after it has sent: the spent token ends the session as lost, not as refused', async () => {
    const { timers, idp, ada, one, other, sessions } = await setupTwo();
    idp.deliver = () => new Promise(() => {});
    void one.renew(ada);
    await settled();
    one.freeze();
    idp.deliver = (answer) => answer;
    const next = passUntil(timers, other.renew(ada));
    expect(await next).toEqual({ kind: 'ended', byUs: 'renewal_lost', code: 'invalid_grant' });
    expect(idp.asked).toEqual(['refresh-token-1', 'refresh-token-1']);
    expect(await sessions.find(ada.cookie)).toBe('renewal_lost');
  });

  it('after it has sent to an IdP that takes a token twice: no session ends', async () => {
    const { timers, idp, ada, one, other, sessions } = await setupTwo();
    idp.isRotating = false;
    idp.deliver = () => new Promise(() => {});
    void one.renew(ada);
    await settled();
    one.freeze();
    idp.deliver = (answer) => answer;
    expect(await passUntil(timers, other.renew(ada))).toEqual(BY_US);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
  });

  it.each([
    [
      'its answer comes to nothing, and the token of the session that stands is not given back',
      true,
    ],
    ['a refusal of the token that was used twice ends nothing', false],
  ])('and was only asleep: %s', async (_, isGranted) => {
    const { timers, idp, ada, one, other, look } = await setupTwo();
    idp.isRotating = false;
    const release = holdAnswer({ idp });
    const late = one.renew(ada);
    await settled();
    one.freeze();
    expect(await passUntil(timers, other.renew(ada))).toEqual(BY_US);
    const before = await look(ada);
    one.wake();
    release((answer) =>
      isGranted ? answer : refuse({ reason: 'refused', code: 'invalid_grant' }),
    );
    expect(await passUntil(timers, late)).toEqual(BY_ANOTHER);
    expect(idp.givenBack).toEqual([]);
    expect(await look(ada)).toEqual(before);
  });
});

describe('a process that is about to end', () => {
  it('while it waits to take over what was sent before sends nothing any more', async () => {
    const { timers, idp, ada, one, sessions } = await setupTwo();
    idp.isAway = true;
    expect(await one.renew(ada)).toMatchObject({ kind: 'postponed' });
    idp.isAway = false;
    const taking = one.renew(ada);
    await settled();
    one.stop();
    expect(await passUntil(timers, taking)).toEqual({
      kind: 'postponed',
      retryAfterMs: 1_000,
      cause: undefined,
    });
    expect(idp.asked).toHaveLength(1);
    expect(await sessions.find(ada.cookie)).toEqual(ada.session);
  });
});

describe('a wall clock that is set', () => {
  it.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])(
    '%s by an hour while the IdP is asked causes no second request, and no endless wait',
    async (_, ms) => {
      const { timers, wall, idp, ada, one, other } = await setupTwo();
      const release = holdAnswer({ idp });
      const first = one.renew(ada);
      await settled();
      wall.setBy = ms;
      const second = other.renew(ada);
      await settled();
      await timers.advance(30_000);
      expect(idp.asked).toHaveLength(1);
      release();
      expect(await passUntil(timers, Promise.all([first, second]))).toEqual([BY_US, BY_ANOTHER]);
      expect(idp.asked).toEqual(['refresh-token-1']);
    },
  );

  it.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('%s by an hour has the lease of a process that died end when it would have', async (_, ms) => {
    const { clock, timers, wall, idp, ada, one, other } = await setupTwo();
    idp.isRotating = false;
    idp.deliver = () => new Promise(() => {});
    void one.renew(ada);
    await settled();
    one.freeze();
    wall.setBy = ms;
    idp.deliver = (answer) => answer;
    const begun = clock.now();
    expect(await passUntil(timers, other.renew(ada))).toEqual(BY_US);
    expect(clock.now() - begun).toBeGreaterThanOrEqual(22_000);
    expect(clock.now() - begun).toBeLessThanOrEqual(22_200);
  });
});

describe('a key ring that cannot seal', () => {
  const NOT_YET = { sealsFrom: NOON + 3_600_000 };

  it('has nothing sent: the refresh token stays good, and the session is as it was', async () => {
    const { clock, idp, ada, one, source, sessions, look } = await setupTwo();
    source.replace([createRingKey('a', NOT_YET)]);
    clock.advance(1_000);
    await expect(one.renew(ada)).rejects.toMatchObject({ code: 'SP_KEY_RING_UNUSABLE' });
    expect(idp.asked).toEqual([]);
    expect((await look(ada))?.stored).toMatchObject({ generation: 1, renewalSent: false });
    source.replace([createRingKey('a')]);
    clock.advance(1_000);
    expect(await one.renew(ada)).toEqual(BY_US);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
  });

  it('as the answer arrives is waited for, so that the token that came with it is not lost', async () => {
    const { clock, timers, idp, ada, one, source, look } = await setupTwo();
    const release = holdAnswer({ idp });
    const renewing = one.renew(ada);
    await settled();
    source.replace([createRingKey('a', NOT_YET)]);
    clock.advance(1_000);
    release();
    await settled();
    await timers.advance(30_000);
    expect((await look(ada))?.stored.generation).toBe(1);
    source.replace([createRingKey('a')]);
    expect(await passUntil(timers, renewing)).toEqual(BY_US);
    expect((await look(ada))?.tokens?.refreshToken).toBe('refresh-token-2');
    expect(idp.asked).toHaveLength(1);
  });
});

/** When a store fails: before it has done what it was asked for, or afterwards, its answer lost. */
type Fault = 'before' | 'after';

const FAULT = new SallyportError('SP_STORE_UNAVAILABLE', { component: 'store:test' });

/** The store as a renewal uses it, failing where the test says so. */
function failing(store: SessionStore, faultOf: () => Fault | undefined): SessionStore {
  const wrap =
    <Call extends readonly unknown[], Answer>(method: (...call: Call) => Promise<Answer>) =>
    async (...call: Call): Promise<Answer> => {
      const fault = faultOf();
      if (fault === 'before') throw FAULT;
      const answer = await method(...call);
      if (fault === 'after') throw FAULT;
      return answer;
    };
  return {
    ...store,
    lease: wrap(store.lease),
    release: wrap(store.release),
    read: wrap(store.read),
    noteRenewalSent: wrap(store.noteRenewalSent),
    replace: wrap(store.replace),
    revokeGeneration: wrap(store.revokeGeneration),
  };
}

describe('a store that fails', () => {
  /** Whether an attempt is worth another; anything but an outage of the store is a failure of the test. */
  async function attempt(process: RenewingProcess, ada: SignedIn): Promise<boolean> {
    try {
      return (await process.renew(ada)).kind === 'postponed';
    } catch (error) {
      expect(error).toBe(FAULT);
      return true;
    }
  }

  async function attemptUntilDecided(
    bench: RenewalBench,
    processes: readonly RenewingProcess[],
    ada: SignedIn,
  ): Promise<void> {
    const work = processes.map(async (process) => {
      while (await attempt(process, ada))
        await new Promise<void>((wake) => process.dependencies.schedule(1_000, wake));
    });
    await passUntil(bench.timers, Promise.all(work));
  }

  /** The calls that fail, counted over both processes: some in a row from the first one on. */
  const faults = fc.record({
    first: fc.integer({ min: 1, max: 14 }),
    count: fc.integer({ min: 1, max: 3 }),
    fault: fc.constantFrom<Fault>('before', 'after'),
    takesMs: fc.constantFrom(0, 150, 2_500, 5_000),
  });

  function setupFailing() {
    const bench = createRenewalBench();
    const plan = { calls: 0, first: 0, count: 0, fault: 'before' as Fault };
    const faultOf = (): Fault | undefined => {
      plan.calls += 1;
      const isDue = plan.calls >= plan.first && plan.calls < plan.first + plan.count;
      return isDue ? plan.fault : undefined;
    };
    const createFailing = () => bench.createProcess((store) => failing(store, faultOf));
    return {
      bench,
      plan,
      processes: [createFailing(), createFailing()],
      next: bench.createProcess(),
    };
  }

  function deliverAfter({ idp, timers }: RenewalBench, takesMs: number): void {
    idp.deliver = async (answer) => {
      await new Promise<void>((wake) => timers.schedule(takesMs, wake));
      return answer;
    };
  }

  it('at any step, before or after it did what it was asked for, loses no session and sends no token twice', async () => {
    const { bench, plan, processes, next } = setupFailing();
    await fc.assert(
      fc.asyncProperty(faults, async ({ takesMs, ...planned }) => {
        const ada = await bench.signIn();
        bench.idp.asked.length = 0;
        Object.assign(plan, planned, { calls: 0 });
        deliverAfter(bench, takesMs);
        await attemptUntilDecided(bench, processes, ada);
        expect(bench.idp.asked).toHaveLength(1);
        expect(bench.idp.givenBack).toEqual([]);
        expect(await bench.sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
        const renewed = await bench.look(ada);
        // Whatever came last, the token that is stored is good.
        bench.idp.deliver = (answer) => answer;
        expect(await passUntil(bench.timers, next.renew(ada, 2))).toEqual(BY_US);
        expect(bench.idp.asked[1]).toBe(renewed?.tokens?.refreshToken);
      }),
      { numRuns: RUNS },
    );
  });

  it('at any step does not keep a session that the IdP refuses, and ends none for another reason', async () => {
    const { bench, plan, processes } = setupFailing();
    await fc.assert(
      fc.asyncProperty(faults, async ({ takesMs, ...planned }) => {
        const ada = await bench.signIn({ tokens: { ...TOKENS, refreshToken: 'unknown' } });
        Object.assign(plan, planned, { calls: 0 });
        deliverAfter(bench, takesMs);
        await attemptUntilDecided(bench, processes, ada);
        expect(['renewal_refused', 'renewal_lost']).toContain(
          await bench.sessions.find(ada.cookie),
        );
      }),
      { numRuns: RUNS },
    );
  });

  it('for a minute as the answer is written does not lose the token that came with it', async () => {
    const { timers, idp, ada, createProcess, look } = await setupTwo();
    const state = { isDown: false };
    const one = createProcess((store) =>
      failing(store, () => (state.isDown ? 'before' : undefined)),
    );
    const release = holdAnswer({ idp });
    const renewing = one.renew(ada);
    await settled();
    state.isDown = true;
    release();
    await timers.advance(50_000);
    expect((await look(ada))?.stored.generation).toBe(1);
    state.isDown = false;
    expect(await passUntil(timers, renewing)).toEqual(BY_US);
    expect((await look(ada))?.tokens?.refreshToken).toBe('refresh-token-2');
  });

  it('for longer is given up on: the outage is reported, and nothing is decided', async () => {
    const { timers, idp, ada, createProcess, sessions } = await setupTwo();
    const state = { isDown: false };
    const one = createProcess((store) =>
      failing(store, () => (state.isDown ? 'before' : undefined)),
    );
    const release = holdAnswer({ idp });
    const renewing = one.renew(ada);
    await settled();
    state.isDown = true;
    release();
    await expect(passUntil(timers, renewing)).rejects.toBe(FAULT);
    expect(await sessions.find(ada.cookie)).toEqual(ada.session);
  });
});

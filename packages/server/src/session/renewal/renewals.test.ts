import { refuse, SallyportError } from '@sallyport/protocol';
import { TOKENS } from '@sallyport/testing/server/people';
import { holdAnswer, passUntil, type SignedIn } from '@sallyport/testing/server/renewal';
import { lineOf, seen, setupRenewals as setup } from '@sallyport/testing/server/renewals';
import { settled } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it } from 'vitest';
import { createAudit, NO_REQUEST } from '../../audit/audit.ts';
import { formatSessionHandle } from '../session-cookie.ts';
import { formatSessionId } from '../session-id.ts';
import type { RenewalBudget } from './renewal-budget.ts';
import { Renewals } from './renewals.ts';

const UNAVAILABLE = new SallyportError('SP_STORE_UNAVAILABLE', { component: 'store:test' });

describe('start', () => {
  it('renews in the background, and reports that remembered verdicts of the session are out of date', async () => {
    const { renewals, signIn, idp, sessions, changed, lines } = setup();
    const ada = await signIn();
    renewals.start([ada.cookie], seen(ada));
    await renewals.settle();
    expect(idp.asked).toEqual(['refresh-token-1']);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
    expect(changed).toEqual([ada.id]);
    expect(lines).toEqual([
      ['audit', 'session_renewing', { ...lineOf(ada, 'due'), generation: 1 }],
      ['audit', 'session_renewed', { ...lineOf(ada, 'confirmed'), generation: 2 }],
    ]);
  });

  it('is one flight for each session and generation, however many requests ask', async () => {
    const { renewals, signIn, idp, changed, takeTime, timers } = setup();
    const [ada, grace] = [await signIn(), await signIn()];
    takeTime(3_000);
    for (let count = 0; count < 200; count += 1) {
      renewals.start([ada.cookie], seen(ada));
      renewals.start([grace.cookie], seen(grace));
    }
    const waiting = Array.from({ length: 50 }, async () =>
      renewals.finish([ada.cookie], seen(ada)),
    );
    await passUntil(timers, renewals.settle());
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 50 }, () => undefined));
    expect(idp.asked).toHaveLength(2);
    expect(changed.toSorted((a, b) => a - b)).toEqual([ada.id, grace.id].toSorted((a, b) => a - b));
    // The next generation is another flight.
    renewals.start([ada.cookie], seen(ada, 2));
    await passUntil(timers, renewals.settle());
    expect(idp.asked).toHaveLength(3);
  });

  it('after a failure is put off, and not tried again at every request', async () => {
    const { renewals, signIn, idp, clock, sessions, timers } = setup();
    const [ada, grace] = [await signIn(), await signIn()];
    const attempt = async (signedIn: SignedIn) => {
      renewals.start([signedIn.cookie], seen(signedIn));
      await passUntil(timers, renewals.settle());
    };
    idp.isAway = true;
    await attempt(ada);
    for (let count = 0; count < 20; count += 1) await attempt(ada);
    expect(idp.asked).toHaveLength(1);
    // Another session's failure is its own.
    await attempt(grace);
    expect(idp.asked).toHaveLength(2);
    clock.advance(1_999);
    await attempt(ada);
    expect(idp.asked).toHaveLength(2);
    clock.advance(1);
    idp.isAway = false;
    await attempt(ada);
    expect(idp.asked).toHaveLength(3);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
  });

  it('spreads the second tries of sessions that failed together', async () => {
    const { renewals, signIn, idp, clock, timers } = setup({ random: () => 0.999 });
    const ada = await signIn();
    idp.isAway = true;
    renewals.start([ada.cookie], seen(ada));
    await renewals.settle();
    clock.advance(6_990);
    renewals.start([ada.cookie], seen(ada));
    await renewals.settle();
    expect(idp.asked).toHaveLength(1);
    clock.advance(10);
    renewals.start([ada.cookie], seen(ada));
    await passUntil(timers, renewals.settle());
    expect(idp.asked).toHaveLength(2);
  });

  it('is put off as long as the budget says, and says nothing of it', async () => {
    const { renewals, signIn, idp, clock, dependencies, lines } = setup();
    const ada = await signIn();
    const turns = Array.from({ length: 16 }, () => dependencies.budget.take());
    const attempt = async () => {
      renewals.start([ada.cookie], seen(ada));
      await renewals.settle();
    };
    await attempt();
    for (const turn of turns) if (turn.ok) turn.done('unsent');
    clock.advance(1_249);
    await attempt();
    expect(idp.asked).toEqual([]);
    clock.advance(1);
    await attempt();
    expect(idp.asked).toHaveLength(1);
    expect(lines.map(([, event]) => event)).toEqual(['session_renewing', 'session_renewed']);
  });

  it('does nothing with cookies of which none is the session’s', async () => {
    const { renewals, signIn, idp, changed, lines } = setup();
    const [ada, grace] = [await signIn(), await signIn()];
    renewals.start([grace.cookie, '', 'x', `${ada.cookie}=`], seen(ada));
    await renewals.settle();
    expect([idp.asked, changed, lines]).toEqual([[], [], []]);
  });

  it('finds the session’s cookie among others, also behind a planted one of the same id', async () => {
    const { renewals, signIn, sessions } = setup();
    const [ada, grace] = [await signIn(), await signIn()];
    const planted = formatSessionHandle({ id: ada.id, secret: Buffer.alloc(32, 9) });
    renewals.start(['x', grace.cookie, planted, ada.cookie], seen(ada));
    await renewals.settle();
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
    expect(await sessions.find(grace.cookie)).toMatchObject({ generation: 1 });
  });

  it('keeps no more than ten thousand failures in mind; the oldest is forgotten first', async () => {
    const leased: number[] = [];
    const { renewals, dependencies } = setup();
    const store = {
      ...dependencies.store,
      lease: async (id: number) => {
        leased.push(id);
        throw UNAVAILABLE;
      },
    };
    const narrow = new Renewals({
      ...dependencies,
      ...{ store, random: () => 0, onChanged: () => {}, originOf: () => NO_REQUEST },
      ...{ log: () => {}, audit: () => {} },
    });
    const start = async (id: number) => {
      const value = formatSessionHandle({ id, secret: Buffer.alloc(32, 1) });
      narrow.start([value], { id, generation: 1 });
      await narrow.settle();
    };
    for (let id = 0; id < 10_001; id += 1) await start(id);
    expect(leased).toHaveLength(10_001);
    await start(1);
    expect(leased).toHaveLength(10_001);
    await start(0);
    expect(leased).toHaveLength(10_002);
    await renewals.settle();
  });
});

describe('finish', () => {
  it('waits for the renewal, and says that the session is worth another look', async () => {
    const { renewals, signIn, sessions, takeTime, timers, clock } = setup();
    const ada = await signIn();
    takeTime(5_000);
    const before = clock.now();
    const waited = renewals.finish([ada.cookie], seen(ada));
    await settled();
    await timers.advance(4_900);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 1 });
    expect(await passUntil(timers, waited)).toBeUndefined();
    expect(clock.now() - before).toBe(5_000);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
  });

  it('joins a renewal that was started in the background', async () => {
    const { renewals, signIn, idp, takeTime, timers } = setup();
    const ada = await signIn();
    takeTime(2_000);
    renewals.start([ada.cookie], seen(ada));
    expect(await passUntil(timers, renewals.finish([ada.cookie], seen(ada)))).toBeUndefined();
    expect(idp.asked).toHaveLength(1);
  });

  it('says so too when the session was ended, by this renewal or meanwhile', async () => {
    const { renewals, signIn, sessions, changed, lines, idp } = setup();
    const [refused, gone] = [await signIn(), await signIn()];
    idp.revokeAll();
    await sessions.end(gone.cookie);
    expect(await renewals.finish([refused.cookie], seen(refused))).toBeUndefined();
    expect(await renewals.finish([gone.cookie], seen(gone))).toBeUndefined();
    expect(await sessions.find(refused.cookie)).toBe('renewal_refused');
    expect(changed).toEqual([refused.id, gone.id]);
    // The process that ended the other one has reported it.
    expect(lines).toEqual([
      ['audit', 'session_renewing', { ...lineOf(refused, 'due'), generation: 1 }],
      ['audit', 'session_ended', { ...lineOf(refused, 'renewal_refused'), error: 'invalid_grant' }],
    ]);
  });

  it('gives the seconds after which to come back when the IdP is away, without waiting', async () => {
    const { renewals, signIn, idp, sessions, changed, lines } = setup();
    const ada = await signIn();
    idp.deliver = () =>
      refuse({
        reason: 'unavailable',
        cause: new SallyportError('SP_IDP_UNREACHABLE', { component: 'idp' }),
      });
    expect(await renewals.finish([ada.cookie], seen(ada))).toBe(1);
    expect(await sessions.find(ada.cookie)).toEqual(ada.session);
    expect(changed).toEqual([]);
    expect(lines).toMatchObject([
      ['audit', 'session_renewing', lineOf(ada, 'due')],
      [
        'warn',
        'renewal_failed',
        { session: formatSessionId(ada.id), failure: expect.stringContaining('SP_IDP') },
      ],
    ]);
    expect(JSON.stringify(lines)).not.toContain('refresh-token');
  });

  it('asks also for a session that is put off: without a renewal it counts for nothing', async () => {
    const { renewals, signIn, idp, sessions, timers } = setup();
    const ada = await signIn();
    idp.isAway = true;
    renewals.start([ada.cookie], seen(ada));
    await renewals.settle();
    idp.isAway = false;
    expect(await passUntil(timers, renewals.finish([ada.cookie], seen(ada)))).toBeUndefined();
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
    // It is put off no longer, since that has succeeded.
    renewals.start([ada.cookie], seen(ada, 2));
    await renewals.settle();
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 3 });
  });

  it('asks again when the budget was full, and is renewed within its time', async () => {
    const { renewals, signIn, idp, timers, dependencies, clock } = setup();
    const ada = await signIn();
    const turns = Array.from({ length: 16 }, () => dependencies.budget.take());
    const before = clock.now();
    const waited = renewals.finish([ada.cookie], seen(ada));
    await settled();
    await timers.advance(600);
    expect(idp.asked).toEqual([]);
    for (const turn of turns) if (turn.ok) turn.done('answered');
    expect(await passUntil(timers, waited)).toBeUndefined();
    expect(clock.now() - before).toBeLessThanOrEqual(1_000);
    expect(idp.asked).toHaveLength(1);
  });

  it('does not wait for a turn that comes after its time, and says when it does', async () => {
    const { renewals, signIn, idp, dependencies, clock } = setup();
    const ada = await signIn();
    const { budget } = dependencies;
    // A pause of sixteen seconds.
    for (let count = 0; count < 3; count += 1) failTurn(budget);
    for (const ms of [1_000, 2_000, 4_000, 8_000]) {
      clock.advance(ms);
      failTurn(budget);
    }
    expect(await renewals.finish([ada.cookie], seen(ada))).toBe(17);
    expect(idp.asked).toEqual([]);
  });

  it('waits twelve seconds at most for a full budget', async () => {
    const { renewals, signIn, timers, dependencies, clock } = setup();
    const ada = await signIn();
    for (let count = 0; count < 16; count += 1) dependencies.budget.take();
    const before = clock.now();
    const waited = await passUntil(timers, renewals.finish([ada.cookie], seen(ada)));
    expect(waited).toBe(1);
    expect(clock.now() - before).toBeGreaterThan(11_000);
    expect(clock.now() - before).toBeLessThanOrEqual(12_000);
  });

  it('waits twelve seconds at most for an IdP; the renewal goes on, and there is no second request', async () => {
    const { renewals, signIn, idp, sessions, takeTime, timers, clock } = setup();
    const ada = await signIn();
    takeTime(20_000);
    const before = clock.now();
    expect(await passUntil(timers, renewals.finish([ada.cookie], seen(ada)))).toBe(1);
    expect(clock.now() - before).toBe(12_000);
    expect(await passUntil(timers, renewals.finish([ada.cookie], seen(ada)))).toBeUndefined();
    expect(clock.now() - before).toBe(20_000);
    expect(idp.asked).toHaveLength(1);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
  });

  it('leaves no timer behind', async () => {
    const { renewals, signIn, timers } = setup();
    const ada = await signIn();
    expect(await renewals.finish([ada.cookie], seen(ada))).toBeUndefined();
    expect(timers.pending).toBe(0);
  });

  it('says that a session without its cookie is worth a look: nothing can be renewed', async () => {
    const { renewals, signIn, idp } = setup();
    const ada = await signIn();
    expect(await renewals.finish(['x'], seen(ada))).toBeUndefined();
    expect(idp.asked).toEqual([]);
  });
});

function failTurn(budget: RenewalBudget): void {
  const turn = budget.take();
  if (!turn.ok) throw new Error('no turn');
  turn.done('unavailable');
}

describe('a fault', () => {
  it.each([
    ['of the store', { store: UNAVAILABLE }],
    ['of ours, rejected', { refresh: new TypeError('a fault of ours, canary-51c8') }],
    ['of ours, thrown', { keepClaims: new TypeError('a fault of ours, canary-51c8') }],
  ] as readonly (readonly [string, { readonly [part: string]: Error }])[])(
    '%s is an outcome and a line in the log, never thrown: the session stands, the caller comes back',
    async (_, parts) => {
      const bench = setup();
      const { signIn, sessions, dependencies, lines, idp, timers } = bench;
      const ada = await signIn();
      const renewals = new Renewals({
        ...dependencies,
        store: {
          ...dependencies.store,
          lease: async (...call) => {
            if (parts['store'] !== undefined) throw parts['store'];
            return dependencies.store.lease(...call);
          },
        },
        tokens: {
          refresh: async (...call) => {
            if (parts['refresh'] !== undefined) throw parts['refresh'];
            return idp.refresh(...call);
          },
          revoke: async () => undefined,
        },
        keepClaims: (claims) => {
          if (parts['keepClaims'] !== undefined) throw parts['keepClaims'];
          return dependencies.keepClaims(claims);
        },
        random: () => 0,
        onChanged: () => {},
        originOf: () => NO_REQUEST,
        log: bench.log,
        audit: createAudit(bench.log),
      });
      expect(await passUntil(timers, renewals.finish([ada.cookie], seen(ada)))).toBe(1);
      expect(await sessions.find(ada.cookie)).toEqual(ada.session);
      const failures = lines.filter(([, event]) => event === 'renewal_failed');
      expect(failures).toMatchObject([
        ['error', 'renewal_failed', { session: formatSessionId(ada.id) }],
      ]);
      expect(JSON.stringify(lines)).not.toContain('canary');
      const linesBefore = lines.length;
      renewals.start([ada.cookie], seen(ada));
      await renewals.settle();
      expect(lines).toHaveLength(linesBefore);
    },
  );

  it('of the listener for the change does not reach the request', async () => {
    const { renewals, signIn, sessions } = setup({
      onChanged: () => {
        throw new TypeError('a fault of ours');
      },
    });
    const ada = await signIn();
    expect(await renewals.finish([ada.cookie], seen(ada))).toBe(1);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
  });
});

describe('settle', () => {
  it('resolves at once when nothing is under way', async () => {
    const { renewals } = setup();
    await expect(renewals.settle()).resolves.toBeUndefined();
  });

  it('waits for what is under way, so that no answer of the IdP is lost', async () => {
    const { renewals, signIn, sessions, takeTime, timers } = setup();
    const ada = await signIn();
    takeTime(5_000);
    renewals.start([ada.cookie], seen(ada));
    const state = { isSettled: false };
    const settling = settle();
    async function settle() {
      await renewals.settle();
      state.isSettled = true;
    }
    await settled();
    await timers.advance(4_999);
    expect(state.isSettled).toBe(false);
    await timers.advance(1);
    await settling;
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
  });
});

describe('stop', () => {
  it('has nothing sent any more, in the background or for a request; the session is as it was', async () => {
    const { renewals, signIn, idp, sessions, store, timers, changed, lines } = setup();
    const ada = await signIn();
    renewals.stop();
    renewals.start([ada.cookie], seen(ada));
    await renewals.settle();
    expect(await passUntil(timers, renewals.finish([ada.cookie], seen(ada)))).toBe(1);
    expect([idp.asked, changed, lines]).toEqual([[], [], []]);
    expect(await sessions.find(ada.cookie)).toEqual(ada.session);
    // Another process may go on at once.
    expect(await store.lease(ada.id, 'next', 1_000)).toBe(true);
  });

  it('lets what was sent come to its end', async () => {
    const { renewals, signIn, idp, sessions, takeTime, timers } = setup();
    const ada = await signIn();
    takeTime(5_000);
    renewals.start([ada.cookie], seen(ada));
    await settled();
    renewals.stop();
    await passUntil(timers, renewals.settle());
    expect(idp.asked).toHaveLength(1);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
  });

  it('has what waits for another process leave, whose renewal is not disturbed', async () => {
    const { renewals, signIn, idp, sessions, createProcess, timers, clock, ...bench } = setup();
    const ada = await signIn();
    const release = holdAnswer({ idp });
    const other = createProcess().renew(ada);
    await settled();
    renewals.start([ada.cookie], seen(ada));
    await settled();
    await timers.advance(1_000);
    const before = clock.now();
    renewals.stop();
    await passUntil(timers, renewals.settle());
    expect(clock.now() - before).toBeLessThanOrEqual(200);
    expect(bench.changed).toEqual([]);
    release();
    await passUntil(timers, other);
    expect(idp.asked).toHaveLength(1);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
  });
});

describe('another process that renews', () => {
  it('has what is remembered here forgotten too, and is not reported twice', async () => {
    const { renewals, signIn, createProcess, idp, changed, lines } = setup();
    const ada = await signIn();
    await createProcess().renew(ada);
    renewals.start([ada.cookie], seen(ada));
    await renewals.settle();
    expect(idp.asked).toHaveLength(1);
    expect(changed).toEqual([ada.id]);
    expect(lines).toEqual([]);
  });

  it('without a refresh token to renew with, nothing is asked and nothing ends', async () => {
    const { renewals, signIn, sessions, idp } = setup();
    const ada = await signIn({ tokens: { ...TOKENS, refreshToken: undefined } });
    expect(await renewals.finish([ada.cookie], seen(ada))).toBeUndefined();
    expect(idp.asked).toEqual([]);
    expect(await sessions.find(ada.cookie)).toEqual(ada.session);
  });
});

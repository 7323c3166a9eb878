import { refuse } from '@sallyport/protocol';
import { holdAnswer, passUntil, setupTwo } from '@sallyport/testing/server/renewal';
import { lineOf, seen, setupRenewals } from '@sallyport/testing/server/renewals';
import { NOON } from '@sallyport/testing/time/clock';
import { settled } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it } from 'vitest';
import { formatSessionId } from '../session-id.ts';
import type { RenewalOutcome } from './renewal.ts';

const BY_US: RenewalOutcome = { kind: 'renewed', byUs: true };
const BY_ANOTHER: RenewalOutcome = { kind: 'renewed', byUs: false };
const CUT = refuse({ reason: 'unavailable' as const, cause: new Error('cut') });
const LOST = { kind: 'ended', byUs: 'renewal_lost', code: 'invalid_grant' };
const REFUSED = { kind: 'ended', byUs: 'renewal_refused', code: 'invalid_grant' };

describe('an IdP that stands still', () => {
  it.each([30, 90, 300, 599])(
    'for %i s and then carries the request out is sent it once, by however many processes; the late answer is kept',
    async (seconds) => {
      const { timers, idp, ada, one, other, look } = await setupTwo();
      const release = holdAnswer({ idp });
      const flights = Promise.all([one.renew(ada), other.renew(ada)]);
      await settled();
      await timers.advance(seconds * 1_000);
      expect(idp.asked).toEqual(['refresh-token-1']);
      expect((await look(ada))?.stored).toMatchObject({ generation: 1, renewalSent: true });
      release();
      expect(await passUntil(timers, flights)).toEqual([BY_US, BY_ANOTHER]);
      expect(idp.asked).toEqual(['refresh-token-1']);
      expect((await look(ada))?.tokens?.refreshToken).toBe('refresh-token-2');
    },
  );

  it.each([30, 90, 300])(
    'for %i s and then drops the request is sent it once more, and takes it',
    async (seconds) => {
      const { timers, idp, ada, one, other } = await setupTwo();
      idp.isRotating = false;
      const release = holdAnswer({ idp });
      const flights = Promise.all([one.renew(ada), other.renew(ada)]);
      await settled();
      await timers.advance(seconds * 1_000);
      expect(idp.asked).toHaveLength(1);
      release(() => CUT);
      const [first, second] = await passUntil(timers, flights);
      expect([first?.kind, second]).toEqual(['postponed', BY_US]);
      expect(idp.asked).toEqual(['refresh-token-1', 'refresh-token-1']);
    },
  );

  it('for 90 s, carries the request out and loses the answer: sent once more it refuses, and that session is lost', async () => {
    const { timers, idp, ada, one, other } = await setupTwo();
    const release = holdAnswer({ idp });
    const flights = Promise.all([one.renew(ada), other.renew(ada)]);
    await settled();
    await timers.advance(90_000);
    release(() => CUT);
    expect((await passUntil(timers, flights))[1]).toEqual(LOST);
    expect(idp.asked).toEqual(['refresh-token-1', 'refresh-token-1']);
  });

  it('for 90 s and then refuses has answered: the session is refused, not lost', async () => {
    const { timers, idp, ada, one } = await setupTwo();
    const release = holdAnswer({ idp });
    const renewing = one.renew(ada);
    await settled();
    await timers.advance(90_000);
    release(() => refuse({ reason: 'refused', code: 'invalid_grant' }));
    expect(await passUntil(timers, renewing)).toEqual(REFUSED);
  });

  it('is late after a minute, not before, once; listening on for it then delays no other renewal', async () => {
    const { timers, idp, signIn, one } = await setupTwo();
    idp.deliver = () => new Promise(() => {});
    const begun = timers.pending;
    for (let count = 0; count < 16; count += 1) void one.renew(await signIn());
    await settled();
    const next = await signIn();
    expect(await one.renew(next)).toMatchObject({ kind: 'postponed', cause: undefined });
    await timers.advance(59_999);
    expect(one.unanswered).toEqual([]);
    await timers.advance(1);
    expect(one.unanswered).toHaveLength(16);
    // It counts as away, until another connection brings an answer.
    expect(one.dependencies.budget.isPaused).toBe(true);
    await timers.advance(1_000);
    idp.deliver = (answer) => answer;
    expect(await one.renew(next)).toEqual(BY_US);
    expect(one.dependencies.budget.isPaused).toBe(false);
    await timers.advance(600_000);
    expect(one.unanswered).toHaveLength(16);
    expect(timers.pending).toBeGreaterThan(begun);
  });

  it('and whose listener dies is sent the token once more by the next process, after the lease', async () => {
    const { clock, timers, idp, ada, one, other } = await setupTwo();
    const release = holdAnswer({ idp });
    void one.renew(ada);
    await settled();
    await timers.advance(300_000);
    one.freeze();
    const died = clock.now();
    expect(await passUntil(timers, other.renew(ada))).toEqual(LOST);
    expect(clock.now() - died).toBeGreaterThanOrEqual(20_000);
    expect(clock.now() - died).toBeLessThanOrEqual(24_000);
    expect(idp.asked).toHaveLength(2);
    release();
  });

  it('leaves no timer behind once it has answered', async () => {
    const { timers, ada, one } = await setupTwo();
    expect(await one.renew(ada)).toEqual(BY_US);
    expect(timers.pending).toBe(0);
  });
});

describe('an IdP that cannot be connected to', () => {
  it('has received nothing: the session is as it was, and the token is sent again at once', async () => {
    const { clock, idp, ada, one, other, look } = await setupTwo();
    const before = await look(ada);
    idp.isAway = 'unreachable';
    expect(await one.renew(ada)).toMatchObject({ kind: 'postponed', cause: expect.any(Error) });
    expect(await look(ada)).toEqual(before);
    idp.isAway = false;
    const begun = clock.now();
    // There is no wait for a process that may have sent.
    expect(await other.renew(ada)).toEqual(BY_US);
    expect(clock.now()).toBe(begun);
  });

  it('and refuses afterwards has refused: the token was not sent before', async () => {
    const { idp, ada, one } = await setupTwo();
    idp.isAway = 'unreachable';
    await one.renew(ada);
    idp.isAway = false;
    idp.revokeAll();
    expect(await one.renew(ada)).toEqual(REFUSED);
  });

  it('does not make up for what was sent earlier: a refusal is reported as lost', async () => {
    const { timers, idp, ada, one, look } = await setupTwo();
    idp.deliver = () => CUT;
    await one.renew(ada);
    idp.deliver = (answer) => answer;
    idp.isAway = 'unreachable';
    await passUntil(timers, one.renew(ada));
    expect((await look(ada))?.stored.renewalSent).toBe(true);
    idp.isAway = false;
    expect(await passUntil(timers, one.renew(ada))).toEqual(LOST);
  });

  it('counts as away to the budget', async () => {
    const { idp, signIn, one } = await setupTwo();
    idp.isAway = 'unreachable';
    for (let count = 0; count < 3; count += 1) await one.renew(await signIn());
    expect(one.dependencies.budget.isPaused).toBe(true);
  });

  it('while the store is away, too, leaves the token noted as sent, which is the careful side', async () => {
    const { timers, idp, ada, createProcess, look } = await setupTwo();
    const one = createProcess((store) => ({
      ...store,
      withdrawRenewalSent: () => Promise.reject(new Error('away')),
    }));
    idp.isAway = 'unreachable';
    expect(await one.renew(ada)).toMatchObject({ kind: 'postponed' });
    expect((await look(ada))?.stored.renewalSent).toBe(true);
    idp.isAway = false;
    expect(await passUntil(timers, one.renew(ada))).toEqual(BY_US);
  });
});

describe('requests meanwhile', () => {
  it('wait no longer than the rules for an unreachable IdP say: not at all once the answer is late', async () => {
    const { renewals, signIn, idp, timers, clock, sessions, ...bench } = setupRenewals();
    const ada = await signIn();
    const release = holdAnswer({ idp, ...bench });
    renewals.start([ada.cookie], seen(ada));
    await settled();
    await timers.advance(59_000);
    const waited = renewals.finish([ada.cookie], seen(ada));
    expect(await passUntil(timers, waited)).toBe(1);
    const before = clock.now();
    for (let count = 0; count < 5; count += 1)
      expect(await renewals.finish([ada.cookie], seen(ada))).toBe(5);
    expect(clock.now()).toBe(before);
    expect(idp.asked).toHaveLength(1);
    release();
    await passUntil(timers, renewals.settle());
    expect(await renewals.finish([ada.cookie], seen(ada, 2))).toBeUndefined();
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 3 });
  });

  it('get the same from a process that waits for the answer to another one', async () => {
    const { renewals, signIn, idp, timers, createProcess, ...bench } = setupRenewals();
    const ada = await signIn();
    const release = holdAnswer({ idp, ...bench });
    const other = createProcess().renew(ada);
    await settled();
    renewals.start([ada.cookie], seen(ada));
    await settled();
    await timers.advance(60_000);
    expect(await renewals.finish([ada.cookie], seen(ada))).toBe(5);
    release();
    await passUntil(timers, Promise.all([other, renewals.settle()]));
    expect(idp.asked).toHaveLength(1);
    expect(bench.changed).toEqual([ada.id]);
  });

  it('one line says since when the answer is listened for, and the usual one that it came', async () => {
    const { renewals, signIn, idp, timers, lines, ...bench } = setupRenewals();
    const ada = await signIn();
    const release = holdAnswer({ idp, ...bench });
    renewals.start([ada.cookie], seen(ada));
    await settled();
    await timers.advance(300_000);
    release();
    await passUntil(timers, renewals.settle());
    const since = new Date(NOON).toISOString();
    expect(lines).toEqual([
      ['audit', 'session_renewing', { ...lineOf(ada, 'due'), generation: 1 }],
      [
        'warn',
        'renewal_unanswered',
        { session: formatSessionId(ada.id), request_id: undefined, since },
      ],
      ['audit', 'session_renewed', { ...lineOf(ada, 'confirmed'), generation: 2 }],
    ]);
  });

  it('a process that begins nothing any more keeps what it listens for', async () => {
    const { renewals, signIn, idp, timers, sessions, ...bench } = setupRenewals();
    const ada = await signIn();
    const release = holdAnswer({ idp, ...bench });
    renewals.start([ada.cookie], seen(ada));
    await settled();
    await timers.advance(90_000);
    renewals.stop();
    await timers.advance(300_000);
    release();
    await passUntil(timers, renewals.settle());
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
    expect(idp.asked).toHaveLength(1);
  });
});

import { refuse } from '@sallyport/protocol';
import { ADA_SIGNS_IN, LIFETIMES, TOKENS } from '@sallyport/testing/server/people';
import {
  holdAnswer,
  passUntil,
  type RefreshAnswer,
  type RenewalBench,
  type SignedIn,
  setupTwo,
} from '@sallyport/testing/server/renewal';
import { createRingKey } from '@sallyport/testing/server/ring';
import { settled } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it } from 'vitest';
import { planValidation } from '../validation.ts';
import { type RenewalOutcome, renewSession } from './renewal.ts';

const BY_US: RenewalOutcome = { kind: 'renewed', byUs: true };
const BY_ANOTHER: RenewalOutcome = { kind: 'renewed', byUs: false };
const GONE: RenewalOutcome = { kind: 'ended', byUs: undefined };
const POSTPONED = { kind: 'postponed', retryAfterMs: 1_000, cause: expect.any(Error) };
const REJECTED = refuse({ reason: 'rejected' as const, cause: new Error('invalid_client') });

/** The IdP refuses, or answers something of no use, from now on. */
function answerWith({ idp }: Pick<RenewalBench, 'idp'>, refusal: RefreshAnswer): void {
  idp.deliver = () => refusal;
}

describe('a renewal', () => {
  it('asks the IdP with the refresh token and stores what it answered as the next generation', async () => {
    const { clock, idp, ada, one, look } = await setupTwo();
    clock.advance(480_000);
    expect(await one.renew(ada)).toEqual(BY_US);
    expect(idp.asked).toEqual(['refresh-token-1']);
    expect(idp.principals).toEqual([ADA_SIGNS_IN.principal]);
    expect(one.sent).toEqual([ada.session]);
    expect(await look(ada)).toMatchObject({
      stored: { generation: 2, renewalSent: false, absoluteEnd: ada.session.absoluteEnd },
      session: {
        ...ada.session,
        generation: 2,
        ...planValidation(LIFETIMES, clock.now(), ada.id, true, 3_600_000),
      },
      tokens: {
        idToken: 'id of refresh-token-2',
        accessToken: 'for refresh-token-2',
        refreshToken: 'refresh-token-2',
      },
    });
    expect(idp.givenBack).toEqual([]);
  });

  it('leaves the cookie as it is: the same value finds the renewed session', async () => {
    const { sessions, ada, one } = await setupTwo();
    await one.renew(ada);
    expect(await sessions.find(ada.cookie)).toMatchObject({ id: ada.id, generation: 2 });
  });

  it('moves neither the absolute end nor the last use, and loses none noted meanwhile', async () => {
    const { clock, sessions, ada, one, look, ...bench } = await setupTwo();
    clock.advance(60_000);
    const release = holdAnswer(bench);
    const renewing = one.renew(ada);
    await settled();
    await sessions.noteUse(ada.id, clock.now());
    release();
    await renewing;
    expect((await look(ada))?.session).toMatchObject({
      lastUsedAt: clock.now(),
      createdAt: ada.session.createdAt,
      absoluteEnd: ada.session.absoluteEnd,
      signInAt: ada.session.signInAt,
    });
  });

  it('can be followed by the next one at once, with the new token', async () => {
    const { idp, ada, one, other, look } = await setupTwo();
    for (let generation = 1; generation <= 4; generation += 1)
      expect(await (generation % 2 === 0 ? other : one).renew(ada, generation)).toEqual(BY_US);
    expect(idp.asked).toEqual([1, 2, 3, 4].map((each) => `refresh-token-${each}`));
    expect((await look(ada))?.stored.generation).toBe(5);
  });

  it('keeps the refresh token where the IdP does not rotate it', async () => {
    const { idp, ada, one, look } = await setupTwo();
    idp.isRotating = false;
    expect(await one.renew(ada)).toEqual(BY_US);
    expect((await look(ada))?.tokens?.refreshToken).toBe('refresh-token-1');
    expect(await one.renew(ada, 2)).toEqual(BY_US);
    expect(idp.asked).toEqual(['refresh-token-1', 'refresh-token-1']);
  });

  it('asks nothing for a generation that is no longer the stored one, or a session that is gone', async () => {
    const { idp, sessions, ada, one, other } = await setupTwo();
    await other.renew(ada);
    expect(await one.renew(ada, 1)).toEqual(BY_ANOTHER);
    await sessions.end(ada.cookie);
    expect(await one.renew(ada, 2)).toEqual(GONE);
    expect(idp.asked).toHaveLength(1);
    expect(one.sent).toEqual([]);
  });

  it('asks nothing without a refresh token, and leaves the session', async () => {
    const { idp, signIn, sessions, one } = await setupTwo();
    const without = await signIn({ tokens: { ...TOKENS, refreshToken: undefined } });
    expect(await one.renew(without)).toEqual(GONE);
    expect(idp.asked).toEqual([]);
    expect(await sessions.find(without.cookie)).toEqual(without.session);
  });

  it('asks nothing for a cookie without the right secret, and finds the right cookie behind a planted one', async () => {
    const { idp, ada, one } = await setupTwo();
    const planted = { id: ada.id, secret: Buffer.alloc(32, 9) };
    const seen = { id: ada.id, generation: 1 };
    expect(await renewSession(one.dependencies, seen, [planted])).toEqual(GONE);
    expect(idp.asked).toEqual([]);
    expect(await renewSession(one.dependencies, seen, [planted, ada.handle])).toEqual(BY_US);
  });

  it('asks nothing while the budget has no turn, and says when it may have one', async () => {
    const { idp, ada, one, look } = await setupTwo();
    for (let count = 0; count < 16; count += 1) one.dependencies.budget.take();
    expect(await one.renew(ada)).toEqual({
      kind: 'postponed',
      retryAfterMs: 250,
      cause: undefined,
    });
    expect(idp.asked).toEqual([]);
    expect((await look(ada))?.stored).toMatchObject({ generation: 1, renewalSent: false });
  });

  it('gives its turn and its lease back, however it ends', async () => {
    const { idp, sessions, signIn, one, store } = await setupTwo();
    const lease = async ({ id }: SignedIn) => store.lease(id, 'next', 1_000);
    const refused = await signIn({ tokens: { ...TOKENS, refreshToken: 'unknown' } });
    const without = await signIn({ tokens: { ...TOKENS, refreshToken: undefined } });
    const gone = await signIn();
    await sessions.end(gone.cookie);
    const fine = await signIn();
    for (const each of [refused, without, gone, fine]) {
      await one.renew(each);
      expect(await lease(each)).toBe(true);
    }
    idp.isAway = true;
    const away = await signIn();
    await one.renew(away);
    expect(await lease(away)).toBe(true);
    // Sixteen turns at once: none of the five is still taken.
    const turns = Array.from({ length: 16 }, () => one.dependencies.budget.take().ok);
    expect(turns).not.toContain(false);
  });
});

describe('many at the same time', () => {
  it('ask once: 3 processes with 20 flights each, an IdP that takes five seconds, no session ends', async () => {
    const { timers, idp, ada, one, other, createProcess, sessions, ...bench } = await setupTwo();
    const release = holdAnswer({ idp });
    const processes = [one, other, createProcess()];
    const flights = processes.flatMap((each) =>
      Array.from({ length: 20 }, async () => each.renew(ada)),
    );
    await settled();
    await timers.advance(5_000);
    release();
    const outcomes = await passUntil(timers, Promise.all(flights));
    expect(idp.asked).toEqual(['refresh-token-1']);
    expect(outcomes.filter((each) => each.kind === 'renewed' && each.byUs)).toHaveLength(1);
    expect(outcomes.filter((each) => each.kind === 'renewed')).toHaveLength(60);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
    expect((await bench.look(ada))?.tokens?.refreshToken).toBe('refresh-token-2');
  });

  it('do not hold each other up: two sessions are renewed side by side', async () => {
    const { timers, idp, ada, signIn, one, other, ...bench } = await setupTwo();
    const grace = await signIn();
    const release = holdAnswer({ idp, ...bench });
    const first = one.renew(ada);
    await settled();
    expect(await other.renew(grace)).toEqual(BY_US);
    release();
    expect(await passUntil(timers, first)).toEqual(BY_US);
    expect(idp.asked).toHaveLength(2);
  });

  it('wait for a holder as long as it lives, longer than any lease', async () => {
    const { timers, idp, ada, one, other } = await setupTwo();
    const release = holdAnswer({ idp });
    const [first, second] = [one.renew(ada), other.renew(ada)];
    await settled();
    await timers.advance(60_000);
    expect(idp.asked).toEqual(['refresh-token-1']);
    release();
    expect(await passUntil(timers, Promise.all([first, second]))).toEqual([BY_US, BY_ANOTHER]);
    expect(idp.asked).toEqual(['refresh-token-1']);
  });

  it('hear of a session that is ended while they wait', async () => {
    const { timers, idp, ada, one, other, sessions } = await setupTwo();
    const release = holdAnswer({ idp });
    const [first, second] = [one.renew(ada), other.renew(ada)];
    await settled();
    await timers.advance(1_000);
    await sessions.end(ada.cookie);
    expect(await passUntil(timers, second)).toEqual(GONE);
    release();
    expect(await passUntil(timers, first)).toEqual(GONE);
  });
});

describe('an IdP', () => {
  it.each(['invalid_grant', 'interaction_required', 'login_required'])(
    'that refuses with %s ends the session, says so to its cookie, and reports its code',
    async (code) => {
      const { ada, one, sessions, ...bench } = await setupTwo();
      answerWith(bench, refuse({ reason: 'refused', code }));
      expect(await one.renew(ada)).toEqual({ kind: 'ended', byUs: 'renewal_refused', code });
      expect(await sessions.find(ada.cookie)).toBe('renewal_refused');
    },
  );

  it('that names another subject ends the session; there is no code to report', async () => {
    const { ada, one, sessions, ...bench } = await setupTwo();
    answerWith(bench, refuse({ reason: 'other_subject' }));
    expect(await one.renew(ada)).toEqual({ kind: 'ended', byUs: 'renewal_refused' });
    expect(await sessions.find(ada.cookie)).toBe('renewal_refused');
  });

  it('that is away ends nothing: the session is as it was, and the next try renews it', async () => {
    const { timers, idp, ada, one, other, look, sessions } = await setupTwo();
    idp.isAway = true;
    expect(await one.renew(ada)).toEqual(POSTPONED);
    expect(await sessions.find(ada.cookie)).toEqual(ada.session);
    expect((await look(ada))?.stored).toMatchObject({ generation: 1, renewalSent: true });
    idp.isAway = false;
    expect(await passUntil(timers, other.renew(ada))).toEqual(BY_US);
    expect((await look(ada))?.stored).toMatchObject({ generation: 2, renewalSent: false });
  });

  it('that is away after it has spent the token loses the session, and the answer to its cookie says so', async () => {
    const { timers, idp, ada, one, sessions } = await setupTwo();
    idp.deliver = () => refuse({ reason: 'unavailable', cause: new Error('cut') });
    expect(await one.renew(ada)).toMatchObject({ kind: 'postponed' });
    idp.deliver = (answer) => answer;
    expect(await passUntil(timers, one.renew(ada))).toEqual({
      kind: 'ended',
      byUs: 'renewal_lost',
      code: 'invalid_grant',
    });
    expect(await sessions.find(ada.cookie)).toBe('renewal_lost');
  });

  it('that does not take the request ends nothing, and the next try renews the session', async () => {
    const { timers, idp, ada, one, sessions } = await setupTwo();
    idp.deliver = () => REJECTED;
    idp.isRotating = false;
    expect(await one.renew(ada)).toEqual(POSTPONED);
    expect(await sessions.find(ada.cookie)).toEqual(ada.session);
    idp.deliver = (answer) => answer;
    expect(await passUntil(timers, one.renew(ada))).toEqual(BY_US);
  });

  it('that does not take one session’s request ten times in a row does not keep the others from asking', async () => {
    const { timers, idp, ada, signIn, one } = await setupTwo();
    idp.deliver = () => REJECTED;
    for (let count = 0; count < 10; count += 1)
      expect(await passUntil(timers, one.renew(ada))).toEqual(POSTPONED);
    expect(idp.asked).toHaveLength(10);
    expect(one.dependencies.budget.isPaused).toBe(false);
    idp.deliver = (answer) => answer;
    expect(await one.renew(await signIn())).toEqual(BY_US);
  });

  it('that is away for one session three times in a row is asked for no other meanwhile', async () => {
    const { timers, idp, ada, signIn, one } = await setupTwo();
    idp.isAway = true;
    for (let count = 0; count < 3; count += 1)
      expect(await passUntil(timers, one.renew(ada))).toEqual(POSTPONED);
    expect(one.dependencies.budget.isPaused).toBe(true);
    idp.isAway = false;
    expect(await one.renew(await signIn())).toMatchObject({ kind: 'postponed', cause: undefined });
    expect(idp.asked).toHaveLength(3);
  });

  it('that is away counts as a failure to the budget, one that refuses does not', async () => {
    const { idp, signIn, one } = await setupTwo();
    const { budget } = one.dependencies;
    for (let count = 0; count < 5; count += 1)
      await one.renew(await signIn({ tokens: { ...TOKENS, refreshToken: 'unknown' } }));
    expect(budget.isPaused).toBe(false);
    idp.isAway = true;
    for (let count = 0; count < 3; count += 1) await one.renew(await signIn());
    expect(budget.isPaused).toBe(true);
  });
});

describe('an answer that cannot be verified', () => {
  const unverified = (answer: RefreshAnswer) => {
    if (!answer.ok) return answer;
    const { refreshToken = '' } = answer.value.tokens;
    return refuse({ reason: 'unverified' as const, check: 'signature', refreshToken });
  };
  const KEPT = { kind: 'kept', check: 'signature' };

  it('keeps the session, which counts no longer than it did, with the token that works from now on', async () => {
    const { clock, idp, ada, one, look, sessions } = await setupTwo();
    clock.advance(480_000);
    idp.deliver = (answer) => unverified(answer);
    expect(await one.renew(ada)).toEqual(KEPT);
    expect(await look(ada)).toMatchObject({
      session: { ...ada.session, generation: 2, revalidateAt: clock.now() + 60_000 },
      tokens: { ...TOKENS, refreshToken: 'refresh-token-2' },
    });
    idp.deliver = (answer) => answer;
    expect(await one.renew(ada, 2)).toEqual(BY_US);
    expect(idp.asked).toEqual(['refresh-token-1', 'refresh-token-2']);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 3 });
  });

  it('ends nothing, however late: the session stays overdue, and is renewed by the first answer that passes', async () => {
    const { clock, idp, ada, one, look, sessions } = await setupTwo();
    const { validUntil = 0 } = ada.session;
    idp.deliver = (answer) => unverified(answer);
    for (const [index, lateMs] of [-1, 0, 3_600_000].entries()) {
      clock.set(validUntil + lateMs);
      expect(await one.renew(ada, index + 1)).toEqual(KEPT);
      // It counts no longer for that.
      expect((await look(ada))?.session?.validUntil).toBe(validUntil);
    }
    idp.deliver = (answer) => answer;
    expect(await one.renew(ada, 4)).toEqual(BY_US);
    expect(idp.asked).toEqual([1, 2, 3, 4].map((each) => `refresh-token-${each}`));
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 5 });
  });

  it('counts as an answer to the budget', async () => {
    const { idp, ada, one } = await setupTwo();
    idp.deliver = (answer) => unverified(answer);
    for (let generation = 1; generation <= 5; generation += 1)
      expect(await one.renew(ada, generation)).toEqual(KEPT);
    expect(one.dependencies.budget.isPaused).toBe(false);
  });
});

describe('a session ended while the IdP is asked', () => {
  it('stays ended, and the new refresh token is given back', async () => {
    const { idp, ada, one, look, sessions } = await setupTwo();
    const release = holdAnswer({ idp });
    const renewing = one.renew(ada);
    await settled();
    await sessions.end(ada.cookie);
    release();
    expect(await renewing).toEqual(GONE);
    expect(await look(ada)).toBeUndefined();
    expect(await sessions.find(ada.cookie)).toBe('signed_out');
    expect(idp.givenBack).toEqual(['refresh-token-2']);
  });

  it('by another sign-in of its browser shares the grant with that one: nothing is given back', async () => {
    const { idp, ada, one, look, store } = await setupTwo();
    const release = holdAnswer({ idp });
    const renewing = one.renew(ada);
    await settled();
    await store.revoke(ada.id, 'session_replaced');
    release();
    expect(await renewing).toEqual(GONE);
    expect(await look(ada)).toBeUndefined();
    expect(idp.givenBack).toEqual([]);
  });

  it('has also the token of an answer that does not pass given back', async () => {
    const { idp, ada, one, store } = await setupTwo();
    const release = holdAnswer({ idp });
    const renewing = one.renew(ada);
    await settled();
    await store.revoke(ada.id, 'session_revoked');
    release(() => refuse({ reason: 'unverified', check: 'signature', refreshToken: 'next' }));
    expect(await renewing).toEqual(GONE);
    expect(idp.givenBack).toEqual(['next']);
  });

  it('keeps the reason it was ended for when the IdP refuses it as well', async () => {
    const { ada, one, sessions, store, idp } = await setupTwo();
    const release = holdAnswer({ idp });
    const renewing = one.renew(ada);
    await settled();
    await store.revoke(ada.id, 'session_revoked');
    release(() => refuse({ reason: 'refused', code: 'invalid_grant' }));
    expect(await renewing).toEqual(GONE);
    expect(await sessions.find(ada.cookie)).toBe('session_revoked');
  });

  it('between the look and the sending is not sent', async () => {
    const { idp, ada, createProcess, store, sessions } = await setupTwo();
    const one = createProcess((own) => ({
      ...own,
      read: async (id) => {
        const stored = await own.read(id);
        await store.revoke(id, 'session_revoked');
        return stored;
      },
    }));
    // Another process has decided; the caller reads again.
    expect(await one.renew(ada)).toEqual(BY_ANOTHER);
    expect(idp.asked).toEqual([]);
    expect(await sessions.find(ada.cookie)).toBe('session_revoked');
  });
});

describe('a key ring that changes while the IdP is asked', () => {
  it('by a new key seals the renewed session with it, and loses nothing', async () => {
    const { clock, idp, ada, one, source, sessions, look } = await setupTwo();
    const release = holdAnswer({ idp });
    const renewing = one.renew(ada);
    await settled();
    source.replace([createRingKey('a'), createRingKey('b', { sealsFrom: clock.now() })]);
    clock.advance(1_000);
    release();
    expect(await renewing).toEqual(BY_US);
    source.replace([createRingKey('b', { sealsFrom: clock.now() - 1_000 })]);
    clock.advance(1_000);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
    expect((await look(ada))?.tokens?.refreshToken).toBe('refresh-token-2');
  });

  it('by taking out the key that sealed the session ends it: it does not come back under another', async () => {
    const { clock, idp, ada, one, source, sessions } = await setupTwo();
    const release = holdAnswer({ idp });
    const renewing = one.renew(ada);
    await settled();
    source.replace([createRingKey('b')]);
    clock.advance(1_000);
    release();
    expect(await renewing).toEqual(GONE);
    expect(await sessions.find(ada.cookie)).toBe('session_unknown');
    expect(idp.givenBack).toEqual(['refresh-token-2']);
  });
});

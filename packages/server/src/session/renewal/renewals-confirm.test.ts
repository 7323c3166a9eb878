import { refuse } from '@sallyport/protocol';
import { passUntil } from '@sallyport/testing/server/renewal';
import { seen, setupRenewals as setup } from '@sallyport/testing/server/renewals';
import { settled } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it } from 'vitest';
import type { RenewalBudget } from './renewal-budget.ts';

describe('confirm', () => {
  it('waits for the answer of the IdP, whatever that is', async () => {
    const { renewals, signIn, sessions, idp, takeTime, timers, clock } = setup();
    const [ada, grace] = [await signIn(), await signIn()];
    takeTime(1_500);
    const before = clock.now();
    await passUntil(timers, renewals.confirm([ada.cookie], seen(ada)));
    expect(clock.now() - before).toBe(1_500);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
    idp.revokeAll();
    await passUntil(timers, renewals.confirm([grace.cookie], seen(grace)));
    expect(await sessions.find(grace.cookie)).toBe('renewal_refused');
  });

  it('waits two seconds at most; the renewal goes on', async () => {
    const { renewals, signIn, sessions, idp, takeTime, timers, clock } = setup();
    const ada = await signIn();
    takeTime(30_000);
    const before = clock.now();
    await passUntil(timers, renewals.confirm([ada.cookie], seen(ada)));
    expect(clock.now() - before).toBe(2_000);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 1 });
    await passUntil(timers, renewals.settle());
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
    expect(idp.asked).toHaveLength(1);
  });

  it('counts that from the start of a renewal that is under way, and waits no longer for one that takes long', async () => {
    const { renewals, signIn, idp, takeTime, timers, clock } = setup();
    const ada = await signIn();
    takeTime(30_000);
    renewals.start([ada.cookie], seen(ada));
    await settled();
    await timers.advance(1_500);
    const before = clock.now();
    await passUntil(timers, renewals.confirm([ada.cookie], seen(ada)));
    expect(clock.now() - before).toBe(500);
    await passUntil(timers, renewals.confirm([ada.cookie], seen(ada)));
    expect(clock.now() - before).toBe(500);
    await passUntil(timers, renewals.settle());
    expect(idp.asked).toHaveLength(1);
  });

  it('is one flight for 200 requests', async () => {
    const { renewals, signIn, idp, takeTime, timers } = setup();
    const ada = await signIn();
    takeTime(50);
    const all = Array.from({ length: 200 }, async () => renewals.confirm([ada.cookie], seen(ada)));
    await passUntil(timers, Promise.all(all));
    expect(idp.asked).toHaveLength(1);
  });

  it('does not wait for an IdP that is away, nor ask it again at once', async () => {
    const { renewals, signIn, idp, timers, clock } = setup();
    const [ada, grace] = [await signIn(), await signIn()];
    idp.isAway = true;
    const before = clock.now();
    for (let count = 0; count < 20; count += 1)
      await passUntil(timers, renewals.confirm([ada.cookie], seen(ada)));
    expect([idp.asked.length, clock.now() - before]).toEqual([1, 0]);
    // Another session's failure is its own.
    await passUntil(timers, renewals.confirm([grace.cookie], seen(grace)));
    expect(idp.asked).toHaveLength(2);
    clock.advance(2_000);
    await passUntil(timers, renewals.confirm([ada.cookie], seen(ada)));
    expect(idp.asked).toHaveLength(3);
  });

  it('does not wait for an IdP that does not take the request', async () => {
    const { renewals, signIn, idp, timers, clock, sessions } = setup();
    const ada = await signIn();
    idp.deliver = () => refuse({ reason: 'rejected', cause: new Error('invalid_client') });
    const before = clock.now();
    await passUntil(timers, renewals.confirm([ada.cookie], seen(ada)));
    expect(clock.now()).toBe(before);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 1 });
  });

  it('asks again when the budget was full, also for a session that was put off by that', async () => {
    const { renewals, signIn, idp, timers, dependencies, sessions } = setup();
    const ada = await signIn();
    const turns = Array.from({ length: 16 }, () => dependencies.budget.take());
    renewals.start([ada.cookie], seen(ada));
    await renewals.settle();
    const waited = renewals.confirm([ada.cookie], seen(ada));
    await settled();
    await timers.advance(600);
    expect(idp.asked).toEqual([]);
    for (const turn of turns) if (turn.ok) turn.done('answered');
    await passUntil(timers, waited);
    expect(await sessions.find(ada.cookie)).toMatchObject({ generation: 2 });
  });

  it('waits two seconds in all for a budget that stays full', async () => {
    const { renewals, signIn, idp, timers, dependencies, clock } = setup();
    const ada = await signIn();
    for (let count = 0; count < 16; count += 1) dependencies.budget.take();
    const before = clock.now();
    await passUntil(timers, renewals.confirm([ada.cookie], seen(ada)));
    expect(clock.now() - before).toBe(2_000);
    expect(idp.asked).toEqual([]);
  });

  it('does not wait for a turn that comes later than that', async () => {
    const { renewals, signIn, idp, timers, dependencies, clock } = setup();
    const ada = await signIn();
    // Three in a row and one more: nothing is sent for two seconds.
    for (let count = 0; count < 3; count += 1) failTurn(dependencies.budget);
    clock.advance(1_000);
    failTurn(dependencies.budget);
    const before = clock.now();
    await passUntil(timers, renewals.confirm([ada.cookie], seen(ada)));
    expect([idp.asked, clock.now() - before]).toEqual([[], 0]);
  });

  it('asks nothing any more once the process is to end', async () => {
    const { renewals, signIn, idp, timers, clock } = setup();
    const ada = await signIn();
    renewals.stop();
    const before = clock.now();
    await passUntil(timers, renewals.confirm([ada.cookie], seen(ada)));
    expect([idp.asked, clock.now() - before]).toEqual([[], 0]);
  });
});

/** The IdP does not answer a renewal. */
function failTurn(budget: RenewalBudget): void {
  const turn = budget.take();
  if (!turn.ok) throw new Error('no turn');
  turn.done('unavailable');
}

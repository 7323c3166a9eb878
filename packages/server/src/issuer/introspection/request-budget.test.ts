import { Clock } from '@sallyport/testing/time/clock';
import { ClockTimers, settled } from '@sallyport/testing/time/clock-timers';
import { describe, expect, it } from 'vitest';
import { RequestBudget } from './request-budget.ts';

function setup(perSecond: number) {
  const clock = new Clock();
  const timers = new ClockTimers(clock);
  const budget = new RequestBudget({ perSecond, now: clock.now, schedule: timers.schedule });
  const begun: number[] = [];
  const ends: PromiseWithResolvers<string>[] = [];
  /** A request that ends when the test says so. */
  const hang = () =>
    budget.run(() => {
      begun.push(clock.now());
      const end = Promise.withResolvers<string>();
      ends.push(end);
      return end.promise;
    });
  /** A request that ends at once. */
  const pass = () =>
    budget.run(async () => {
      begun.push(clock.now());
      return 'done';
    });
  const fail = () =>
    budget
      .run(async () => {
        begun.push(clock.now());
        throw new Error('down');
      })
      .then(
        (value) => value,
        () => 'failed',
      );
  return { clock, timers, budget, begun, ends, hang, pass, fail };
}

const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make);

describe('the budget of a second', () => {
  it('is never exceeded in any second, for all callers together', async () => {
    const { pass, begun, timers } = setup(50);
    const asked: Promise<unknown>[] = [];
    for (let step = 0; step < 100; step += 1) {
      asked.push(...times(100, pass));
      await settled();
      await timers.advance(50);
    }
    await timers.advance(3_000);
    await Promise.all(asked);
    expect(begun.length).toBeGreaterThan(200);
    for (const start of begun)
      expect(begun.filter((at) => at >= start && at < start + 1_000).length).toBeLessThanOrEqual(
        50,
      );
  });

  it('lets those that wait through when the second is over, in their order', async () => {
    const { pass, begun, timers, clock } = setup(2);
    const start = clock.now();
    const asked = times(4, pass);
    await settled();
    expect(begun).toEqual([start, start]);
    await timers.advance(1_000);
    expect(await Promise.all(asked)).toEqual(['done', 'done', 'done', 'done']);
    expect(begun).toEqual([start, start, start + 1_000, start + 1_000]);
  });

  it('turns away a caller that would wait for more than two seconds', async () => {
    const { pass, timers } = setup(1);
    const asked = times(5, pass);
    await timers.advance(10_000);
    expect(await Promise.all(asked)).toEqual(['done', 'done', 'done', undefined, undefined]);
  });

  it('turns away a new caller at once when 64 wait', async () => {
    const { pass, begun, budget } = setup(1);
    const asked = times(10_000, pass);
    await settled();
    expect(begun).toHaveLength(1);
    const turnedAway = await Promise.all(asked.slice(65));
    expect(turnedAway.every((value) => value === undefined)).toBe(true);
    budget.close();
    expect((await Promise.all(asked)).filter((value) => value === 'done')).toHaveLength(1);
  });
});

describe('requests at once', () => {
  it('are 16 at most; the next begins when one ends', async () => {
    const { hang, begun, ends } = setup(1_000);
    const asked = times(20, hang);
    await settled();
    expect(begun).toHaveLength(16);
    ends[0]?.resolve('first');
    expect(await asked[0]).toBe('first');
    await settled();
    expect(begun).toHaveLength(17);
  });
});

describe('after five failures in a row', () => {
  it('nothing is asked for ten seconds, then one request tries', async () => {
    const { fail, pass, hang, begun, clock, ends } = setup(1_000);
    for (let count = 0; count < 5; count += 1) expect(await fail()).toBe('failed');
    expect(await pass()).toBeUndefined();
    clock.advance(9_999);
    expect(await pass()).toBeUndefined();
    expect(begun).toHaveLength(5);
    clock.advance(1);
    const trying = hang();
    const waiting = pass();
    await settled();
    expect(begun).toHaveLength(6);
    ends[0]?.resolve('back');
    expect(await trying).toBe('back');
    expect(await waiting).toBe('done');
    expect(await Promise.all(times(3, pass))).toEqual(['done', 'done', 'done']);
  });

  it('and another one when it tries, it pauses again and turns away who waits', async () => {
    const { fail, pass, hang, clock, ends } = setup(1_000);
    for (let count = 0; count < 5; count += 1) await fail();
    clock.advance(10_000);
    const trying = hang();
    const waiting = pass();
    await settled();
    ends[0]?.reject(new Error('still down'));
    await expect(trying).rejects.toThrow('still down');
    expect(await waiting).toBeUndefined();
    expect(await pass()).toBeUndefined();
  });

  it('but not after five with a success between', async () => {
    const { fail, pass } = setup(1_000);
    for (let count = 0; count < 4; count += 1) await fail();
    expect(await pass()).toBe('done');
    for (let count = 0; count < 4; count += 1) await fail();
    expect(await pass()).toBe('done');
  });
});

import { settled } from '@sallyport/testing/time/clock-timers';
import { Timers } from '@sallyport/testing/time/timers';
import { describe, expect, it } from 'vitest';
import { startSweeping } from './sweep.ts';

/** A store that sweeps as it is told, by turns; without a word left it finds nothing. */
function setup(...answers: (number | Error | Promise<number>)[]) {
  const timers = new Timers();
  const limits: number[] = [];
  const told: unknown[] = [];
  const sweeping = startSweeping({
    store: {
      async sweep(limit) {
        limits.push(limit);
        const answer = answers.shift() ?? 0;
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    schedule: timers.schedule,
    log: (level, event) => told.push([level, event]),
  });
  const fire = async (afterMs: number) => {
    timers.fire(afterMs);
    await settled();
  };
  return { timers, limits, told, sweeping, fire };
}

describe('Sessions whose time is over are swept', () => {
  it('three seconds after the start and then once a minute', async () => {
    const { timers, limits, told, fire } = setup();
    expect(timers.waiting).toEqual([3_000]);
    await fire(3_000);
    expect(timers.waiting).toEqual([60_000]);
    await fire(60_000);
    expect(timers.waiting).toEqual([60_000]);
    expect(limits).toEqual([32, 32]);
    expect(told).toEqual([]);
  });

  it('in parts, one soon after the other, until one is not full', async () => {
    const { timers, fire } = setup(32, 32, 31);
    await fire(3_000);
    expect(timers.waiting).toEqual([50]);
    await fire(50);
    expect(timers.waiting).toEqual([50]);
    await fire(50);
    expect(timers.waiting).toEqual([60_000]);
  });

  it('also after a sweep that failed, which is reported', async () => {
    const { timers, limits, told, fire } = setup(new Error('away'), 1);
    await fire(3_000);
    expect(told).toEqual([['warn', 'sweep_failed']]);
    expect(timers.waiting).toEqual([60_000]);
    await fire(60_000);
    expect(limits).toHaveLength(2);
    expect(told).toHaveLength(1);
  });

  it('however often one fails, which is reported once for each reason, and again after one that did not', async () => {
    const [away, full] = [new Error('away'), new TypeError('full')];
    const { told, fire } = setup(away, away, full, full, 0, full);
    await fire(3_000);
    const counts = [told.length];
    for (let minute = 1; minute <= 5; minute += 1) {
      await fire(60_000);
      counts.push(told.length);
    }
    expect(counts).toEqual([1, 1, 2, 2, 2, 3]);
  });

  it('no more after the end, whether a sweep waits or is under way; one that fails then is not told', async () => {
    const waiting = setup();
    waiting.sweeping.stop();
    expect(waiting.timers.waiting).toEqual([]);

    const { promise, reject } = Promise.withResolvers<number>();
    const { timers, told, sweeping, fire } = setup(promise);
    await fire(3_000);
    sweeping.stop();
    reject(new Error('closed'));
    await settled();
    expect(timers.waiting).toEqual([]);
    expect(told).toEqual([]);
  });
});

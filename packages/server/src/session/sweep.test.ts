import { settled } from '@sallyport/testing/time/clock-timers';
import { Timers } from '@sallyport/testing/time/timers';
import { describe, expect, it } from 'vitest';
import { startSweeping } from './sweep.ts';

/** A store whose sweeps give the answers of the test in turn; without an answer left it finds nothing. */
function setup(...answers: (number | Error | Promise<number>)[]) {
  const timers = new Timers();
  const limits: number[] = [];
  const logged: unknown[] = [];
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
    log: (level, event) => logged.push([level, event]),
  });
  const fire = async (afterMs: number) => {
    timers.fire(afterMs);
    await settled();
  };
  return { timers, limits, logged, sweeping, fire };
}

describe('Sessions whose time is over are swept', () => {
  it('three seconds after the start and then once a minute', async () => {
    const { timers, limits, logged, fire } = setup();
    expect(timers.waiting).toEqual([3_000]);
    await fire(3_000);
    expect(timers.waiting).toEqual([60_000]);
    await fire(60_000);
    expect(timers.waiting).toEqual([60_000]);
    expect(limits).toEqual([32, 32]);
    expect(logged).toEqual([]);
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
    const { timers, limits, logged, fire } = setup(new Error('away'), 1);
    await fire(3_000);
    expect(logged).toEqual([['warn', 'sweep_failed']]);
    expect(timers.waiting).toEqual([60_000]);
    await fire(60_000);
    expect(limits).toHaveLength(2);
    expect(logged).toHaveLength(1);
  });

  it('however often one fails, which is reported once for each reason, and again after one that did not', async () => {
    const [away, full] = [new Error('away'), new TypeError('full')];
    const { logged, fire } = setup(away, away, full, full, 0, full);
    await fire(3_000);
    const counts = [logged.length];
    for (let minute = 1; minute <= 5; minute += 1) {
      await fire(60_000);
      counts.push(logged.length);
    }
    expect(counts).toEqual([1, 1, 2, 2, 2, 3]);
  });

  it('no more after the end, whether a sweep waits or is under way; one that fails then is not logged', async () => {
    const waiting = setup();
    waiting.sweeping.stop();
    expect(waiting.timers.waiting).toEqual([]);

    const { promise, reject } = Promise.withResolvers<number>();
    const { timers, logged, sweeping, fire } = setup(promise);
    await fire(3_000);
    sweeping.stop();
    reject(new Error('closed'));
    await settled();
    expect(timers.waiting).toEqual([]);
    expect(logged).toEqual([]);
  });
});

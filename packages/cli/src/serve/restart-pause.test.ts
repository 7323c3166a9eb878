import { describe, expect, it } from 'vitest';
import { createRestartPause } from './restart-pause.ts';

/** Starts at each time and ends `livedMs` later; returns what is said of each end. */
function ends(times: readonly number[], livedMs: number, wasListening: boolean) {
  let now = 0;
  const pause = createRestartPause(() => now);
  return times.map((time) => {
    now = time;
    pause.started();
    now = time + livedMs;
    return pause.ended(wasListening);
  });
}

describe('the pause before a worker is started again', () => {
  it('is none for one that ran for ten seconds, and 100 ms for one that did not', () => {
    expect(ends([0], 10_000, true)).toEqual([0]);
    expect(ends([0], 9_999, true)).toEqual([100]);
  });

  it('doubles with every end soon after a start, to 5 s, and never gives up on one that listened', () => {
    const starts = Array.from({ length: 8 }, (_, index) => index * 1_000);
    expect(ends(starts, 10, true)).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  });

  it('is short again after one that ran for ten seconds', () => {
    let now = 0;
    const pause = createRestartPause(() => now);
    const livedFor = (ms: number) => {
      pause.started();
      now += ms;
      return pause.ended(true);
    };
    expect([livedFor(1), livedFor(1), livedFor(10_000), livedFor(1)]).toEqual([100, 200, 0, 100]);
  });
});

describe('giving up on a worker', () => {
  it('comes with the third failure to get ready within 10 s', () => {
    expect(ends([0, 5_000, 9_998], 1, false)).toEqual([100, 200, 'give_up']);
  });

  it('does not come when the first of three was 10 s before the third', () => {
    expect(ends([0, 5_000, 10_000], 1, false)).toEqual([100, 200, 400]);
  });

  it('does not come when it got ready in between', () => {
    const pause = createRestartPause(() => 0);
    pause.started();
    expect([false, false, true, false, false].map((was) => pause.ended(was))).not.toContain(
      'give_up',
    );
    expect(pause.ended(false)).toBe('give_up');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTraceSampling } from './trace-sampling.ts';

/** Counts up in steps of 1/1000 and begins again: every value is drawn equally often. */
function createEvenRandom(): () => number {
  let drawn = 0;
  return () => ((drawn++ * 7) % 1_000) / 1_000;
}

function samplingAt(clock: { now: number }, continuedPerSecond: number, share = 0) {
  const random = createEvenRandom();
  return createTraceSampling({ share, continuedPerSecond, monotonicMs: () => clock.now, random });
}

const countOf = (asks: number, ask: () => boolean) =>
  Array.from({ length: asks }, ask).filter(Boolean).length;

describe('the share of requests that begin a trace', () => {
  it.each([0, 0.01, 0.25, 0.5, 1])('is %d of them', (share) => {
    const sampling = samplingAt({ now: 0 }, 0, share);
    expect(countOf(10_000, sampling.begins)).toBe(share * 10_000);
  });
});

describe('traces begun elsewhere', () => {
  it('are continued so many times a second, however many requests claim to be traced', () => {
    const clock = { now: 0 };
    const sampling = samplingAt(clock, 5);
    expect(countOf(1_000, sampling.continues)).toBe(5);
    clock.now = 1_000;
    expect(countOf(1_000, sampling.continues)).toBe(5);
    clock.now = 1_200;
    expect(countOf(1_000, sampling.continues)).toBe(1);
  });

  it('do not accumulate unused allowance', () => {
    const clock = { now: 0 };
    const sampling = samplingAt(clock, 5);
    clock.now = 3_600_000;
    expect(countOf(1_000, sampling.continues)).toBe(5);
  });

  it('never exceed the bound and one second of it, whenever they come', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 500 }),
        (perSecond, pauses) => {
          const clock = { now: 0 };
          const sampling = samplingAt(clock, perSecond);
          let continued = 0;
          for (const pause of pauses) {
            clock.now += pause;
            if (sampling.continues()) continued += 1;
          }
          expect(continued).toBeLessThanOrEqual(perSecond * (1 + clock.now / 1_000));
        },
      ),
    );
  });

  it('take nothing from the requests that begin one', () => {
    const sampling = samplingAt({ now: 0 }, 5, 1);
    countOf(1_000, sampling.continues);
    expect(sampling.begins()).toBe(true);
  });

  it('are never continued with a bound of 0', () => {
    const clock = { now: 0 };
    const sampling = samplingAt(clock, 0);
    clock.now = 10_000;
    expect(sampling.continues()).toBe(false);
  });
});

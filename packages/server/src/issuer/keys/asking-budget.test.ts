import { Clock } from '@sallyport/testing/time/clock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AskingBudget } from './asking-budget.ts';

const LIMITS = { perMinute: 5, distancesMs: [1_000, 1_000, 5_000, 15_000] };

function setup() {
  const clock = new Clock();
  return { clock, budget: new AskingBudget(clock.now, LIMITS) };
}

describe('how often an issuer is asked on account of tokens', () => {
  it('is five times within a minute, a second apart, while each brings something new', () => {
    const { clock, budget } = setup();
    for (let turn = 0; turn < 5; turn += 1) {
      expect(budget.untilMs).toBe(0);
      budget.begin();
      budget.end(true);
      expect(budget.untilMs).toBe(turn < 4 ? 1_000 : 56_000);
      clock.advance(1_000);
    }
    clock.advance(55_000);
    expect(budget.untilMs).toBe(0);
  });

  it('is less and less often while they bring nothing new, and soon again once one does', () => {
    const { clock, budget } = setup();
    const waits = [];
    for (const hasBroughtNews of [false, false, false, true]) {
      budget.begin();
      budget.end(hasBroughtNews);
      waits.push(budget.untilMs);
      clock.advance(budget.untilMs);
    }
    expect(waits).toEqual([1_000, 5_000, 15_000, 1_000]);
  });

  it('is at once again after a minute of peace', () => {
    const { clock, budget } = setup();
    for (let turn = 0; turn < 5; turn += 1) {
      clock.advance(budget.untilMs);
      budget.begin();
      budget.end(false);
    }
    clock.advance(60_000);
    budget.begin();
    budget.end(false);
    expect(budget.untilMs).toBe(1_000);
  });

  it('is not stopped by a clock that was set back', () => {
    const { clock, budget } = setup();
    budget.begin();
    budget.end(false);
    clock.advance(-3_600_000);
    expect(budget.untilMs).toBe(0);
  });

  it('is never more than five times in any minute, nor twice within a second', () => {
    const step = fc.record({ afterMs: fc.nat(20_000), hasBroughtNews: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { clock, budget } = setup();
        const begun: number[] = [];
        for (const { afterMs, hasBroughtNews } of steps) {
          clock.advance(afterMs);
          if (budget.untilMs > 0) continue;
          budget.begin();
          budget.end(hasBroughtNews);
          begun.push(clock.now());
        }
        for (const [at, time] of begun.entries()) {
          expect(time - (begun[at - 1] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(1_000);
          expect(time - (begun[at - 5] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(60_000);
        }
      }),
    );
  });
});

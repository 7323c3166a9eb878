import { Clock } from '@sallyport/testing/time/clock';
import { ClockTimers } from '@sallyport/testing/time/clock-timers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventBudget } from './log-budget.ts';

const RATE = { burst: 3, perSecond: 2 };

function setup() {
  const clock = new Clock();
  const timers = new ClockTimers(clock);
  const reported: [event: string, count: number][] = [];
  const budget = new EventBudget({
    schedule: timers.schedule,
    onSuppressed: (event, count) => reported.push([event, count]),
  });
  /** How many of so many are let through. */
  const ask = (event: string, times: number) =>
    Array.from({ length: times }, () => budget.take(event, RATE)).filter(Boolean).length;
  return { timers, reported, budget, ask };
}

describe('a budget of events', () => {
  it('lets a burst through, then so many a second, and says once a second how many it left out', async () => {
    const { timers, reported, ask } = setup();
    expect(ask('refused', 10)).toBe(3);
    expect(reported).toEqual([]);
    await timers.advance(1_000);
    expect(reported).toEqual([['refused', 7]]);
    expect(ask('refused', 10)).toBe(2);
    await timers.advance(1_000);
    expect(reported).toEqual([
      ['refused', 7],
      ['refused', 8],
    ]);
  });

  it('says nothing where nothing was left out', async () => {
    const { timers, reported, ask } = setup();
    expect(ask('refused', 3)).toBe(3);
    await timers.advance(10_000);
    expect(reported).toEqual([]);
  });

  it('counts every kind of event for itself', () => {
    const { ask } = setup();
    expect(ask('refused', 10)).toBe(3);
    expect(ask('failed', 10)).toBe(3);
  });

  it('saves up no more than the burst, and has no timer while nothing happens', async () => {
    const { timers, ask } = setup();
    ask('refused', 3);
    await timers.advance(60_000);
    expect(timers.pending).toBe(0);
    expect(ask('refused', 10)).toBe(3);
  });

  it('reports what was left out when it is closed, and leaves no timer behind', () => {
    const { timers, reported, budget, ask } = setup();
    ask('refused', 5);
    budget.close();
    expect(reported).toEqual([['refused', 2]]);
    expect(timers.pending).toBe(0);
  });

  it('lets every event through or counts it, never both, whatever comes when', async () => {
    const steps = fc.array(
      fc.record({ event: fc.constantFrom('a', 'b'), times: fc.nat(20), ms: fc.nat(3_000) }),
      { maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { timers, reported, budget, ask } = setup();
        let asked = 0;
        let written = 0;
        for (const { event, times, ms } of all) {
          asked += times;
          written += ask(event, times);
          await timers.advance(ms);
        }
        budget.close();
        const suppressed = reported.reduce((sum, [, count]) => sum + count, 0);
        expect(written + suppressed).toBe(asked);
      }),
      { numRuns: 30 },
    );
  });
});

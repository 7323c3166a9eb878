import { Clock } from '@sallyport/testing/time/clock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RenewalBudget, type Turn } from './renewal-budget.ts';

const RUNS = process.env['CI'] === undefined ? 100 : 1_000;

type Granted = Extract<Turn, { ok: true }>;

function setup({ perSecond = 10, atOnce = 1_000, listening = 1_000 } = {}) {
  const clock = new Clock();
  const limits = { perSecond, atOnce, listening };
  return { clock, budget: new RenewalBudget({ now: clock.now, random: () => 0, ...limits }) };
}

/** A turn that must be there. */
function grant(budget: RenewalBudget): Granted {
  const turn = budget.take();
  if (!turn.ok) throw new Error(`sent away for ${turn.retryAfterMs} ms`);
  return turn;
}

/** How long the next one is sent away for; 0 when it is not. Takes no turn. */
function waitOf(budget: RenewalBudget): number {
  const turn = budget.take();
  if (turn.ok) turn.done('unsent');
  return turn.ok ? 0 : turn.retryAfterMs;
}

describe('a renewal whose answer is late', () => {
  it('gives its place among those at once to another, and counts as a failure of the IdP, once', () => {
    const { budget } = setup({ atOnce: 2 });
    const turns = [grant(budget), grant(budget)];
    expect(waitOf(budget)).toBeGreaterThan(0);
    for (const turn of turns) {
      turn.unanswered();
      turn.unanswered();
    }
    expect(budget.isPaused).toBe(false);
    grant(budget).unanswered();
    expect(budget.isPaused).toBe(true);
  });

  it('comes to its end without a second failure, or with an answer, after which the IdP is there', () => {
    const { clock, budget } = setup();
    const turns = Array.from({ length: 4 }, () => grant(budget));
    for (const turn of turns) turn.unanswered();
    expect(budget.isPaused).toBe(true);
    turns[0]?.done('answered');
    expect(budget.isPaused).toBe(false);
    for (const turn of turns.slice(1)) turn.done('unavailable');
    expect(budget.isPaused).toBe(false);
    clock.advance(1_000);
    expect(waitOf(budget)).toBe(0);
  });

  it('does not keep the next one from asking whether the IdP is there again', () => {
    const { clock, budget } = setup({ perSecond: 100 });
    const turns = Array.from({ length: 16 }, () => grant(budget));
    for (const turn of turns) turn.unanswered();
    clock.advance(1_000);
    const probe = grant(budget);
    // One at a time, as long as the IdP counts as away.
    expect(waitOf(budget)).toBeGreaterThan(0);
    probe.unanswered();
    clock.advance(2_000);
    grant(budget).done('answered');
    clock.advance(1_000);
    expect(waitOf(budget)).toBe(0);
  });

  it('stays among those at once while too many are listened for, until one of these ends; the oldest moves first', () => {
    const { clock, budget } = setup({ atOnce: 3, listening: 1 });
    const [first, second, third] = [grant(budget), grant(budget), grant(budget)];
    for (const turn of [first, second, third]) turn.unanswered();
    clock.advance(1_000);
    // An answer from elsewhere: only places are short now.
    grant(budget).done('answered');
    clock.advance(1_000);
    const other = grant(budget);
    expect(waitOf(budget)).toBeGreaterThan(0);
    first.done('unavailable');
    const another = grant(budget);
    expect(waitOf(budget)).toBeGreaterThan(0);
    // What ends in its place frees that, and no other.
    third.done('unavailable');
    const last = grant(budget);
    expect(waitOf(budget)).toBeGreaterThan(0);
    second.done('unavailable');
    expect(waitOf(budget)).toBeGreaterThan(0);
    for (const turn of [other, another, last]) turn.done('answered');
    for (let count = 0; count < 3; count += 1) grant(budget);
    expect(waitOf(budget)).toBeGreaterThan(0);
  });

  it('that has ended is late no more', () => {
    const { budget } = setup({ atOnce: 1 });
    const turn = grant(budget);
    turn.done('answered');
    turn.unanswered();
    turn.done('unavailable');
    grant(budget);
    expect(waitOf(budget)).toBeGreaterThan(0);
  });

  it('in any order of events neither loses a place nor makes one', () => {
    const event = fc.record({
      which: fc.nat(),
      what: fc.constantFrom('take', 'late', 'answered', 'unsent'),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const { clock, budget } = setup({ perSecond: 1_000, atOnce: 4, listening: 3 });
        const open: Granted[] = [];
        const late = new Set<Granted>();
        for (const { which, what } of events) {
          clock.advance(60_000);
          const turn = open[which % Math.max(1, open.length)];
          if (what === 'take') {
            const taken = budget.take();
            if (taken.ok) open.push(taken);
          } else if (turn !== undefined && what === 'late') {
            turn.unanswered();
            late.add(turn);
            // Only places are looked at here.
            turn.unanswered();
          } else if (turn !== undefined) {
            turn.done(what === 'answered' ? 'answered' : 'unsent');
            late.delete(turn);
            open.splice(open.indexOf(turn), 1);
          }
          const listening = Math.min(3, late.size);
          expect(open.length - listening).toBeLessThanOrEqual(4);
        }
        for (const turn of open) turn.done('answered');
        clock.advance(60_000);
        // During a pause one turn is granted, and its answer ends the pause.
        grant(budget).done('answered');
        clock.advance(60_000);
        for (let count = 0; count < 4; count += 1) grant(budget);
        expect(waitOf(budget)).toBeGreaterThan(0);
      }),
      { numRuns: RUNS },
    );
  });
});

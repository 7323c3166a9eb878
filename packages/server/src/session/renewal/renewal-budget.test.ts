import { Clock, NOON } from '@sallyport/testing/time/clock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RenewalBudget, type Turn } from './renewal-budget.ts';

const RUNS = process.env['CI'] === undefined ? 100 : 1_000;
const PER_SECOND = 10;

type Granted = Extract<Turn, { ok: true }>;

function setup({
  perSecond = PER_SECOND,
  atOnce = 1_000,
  listening = 1_000,
  random = (): number => 0,
} = {}) {
  const clock = new Clock();
  const budget = new RenewalBudget({ now: clock.now, random, perSecond, atOnce, listening });
  return { clock, budget };
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

function fail(budget: RenewalBudget, times: number): void {
  for (let count = 0; count < times; count += 1) grant(budget).done('unavailable');
}

/** A number after another, the same for the same seed: at least 0, below 1. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The most that fell into any one second. */
function busiestSecond(times: readonly number[]): number {
  let most = 0;
  for (const start of times)
    most = Math.max(most, times.filter((time) => time >= start && time < start + 1_000).length);
  return most;
}

describe('the rate', () => {
  it('lets a purse of one second through, then as many a second as configured', () => {
    const { clock, budget } = setup();
    for (let count = 0; count < PER_SECOND; count += 1) grant(budget).done('answered');
    expect(budget.take()).toEqual({ ok: false, retryAfterMs: 250 });
    clock.advance(99);
    expect(budget.take().ok).toBe(false);
    clock.advance(1);
    grant(budget).done('answered');
    expect(budget.take().ok).toBe(false);
    clock.advance(500);
    for (let count = 0; count < 5; count += 1) grant(budget).done('answered');
    expect(budget.take().ok).toBe(false);
  });

  it('saves up no more than that purse, however long nothing was renewed', () => {
    const { clock, budget } = setup();
    clock.advance(86_400_000);
    for (let count = 0; count < PER_SECOND; count += 1) grant(budget).done('answered');
    expect(budget.take().ok).toBe(false);
  });

  it('names each one that is sent away a moment of its own, within the time the budget needs for them', () => {
    const { budget } = setup({ random: createRandom(7) });
    for (let count = 0; count < PER_SECOND; count += 1) grant(budget);
    const waits = Array.from({ length: 100 }, () => waitOf(budget));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(250);
    expect(Math.max(...waits)).toBeLessThanOrEqual(250 + (100 / PER_SECOND) * 1_000);
    expect(Math.max(...waits)).toBeGreaterThan(5_000);
    expect(new Set(waits).size).toBeGreaterThan(90);
  });

  it('sends no caller away for longer than 30.25 s, however many there are', () => {
    const { budget } = setup({ random: () => 0.999_999 });
    for (let count = 0; count < PER_SECOND; count += 1) grant(budget);
    for (let count = 0; count < 5_000; count += 1)
      expect(waitOf(budget)).toBeLessThanOrEqual(30_250);
  });
});

describe('those who were sent away and did not come back', () => {
  function storm() {
    const { clock, budget } = setup({ random: () => 0.999_999 });
    for (let count = 0; count < PER_SECOND; count += 1) grant(budget);
    for (let count = 0; count < 1_000; count += 1) waitOf(budget);
    return { clock, budget };
  }

  it('are forgotten with time: after eight quiet hours the next one that has to wait waits less than a second', () => {
    const { clock, budget } = storm();
    clock.advance(28_800_000);
    for (let count = 0; count < PER_SECOND; count += 1) grant(budget);
    expect(waitOf(budget)).toBeGreaterThanOrEqual(250);
    expect(waitOf(budget)).toBeLessThan(1_000);
  });

  it('still stand before the next one a moment later, and half of them when half their time is over', () => {
    const { clock, budget } = storm();
    expect(waitOf(budget)).toBe(30_250);
    clock.advance(15_000);
    for (let count = 0; count < PER_SECOND; count += 1) grant(budget);
    expect(waitOf(budget)).toBeGreaterThan(13_000);
    expect(waitOf(budget)).toBeLessThanOrEqual(15_500);
  });
});

describe('the number at once', () => {
  it('is never exceeded, and a turn that is done makes room for one', () => {
    const { budget } = setup({ perSecond: 100, atOnce: 3 });
    const turns = [grant(budget), grant(budget), grant(budget)];
    expect(budget.take()).toEqual({ ok: false, retryAfterMs: 250 });
    turns[0]?.done('answered');
    grant(budget);
    expect(budget.take().ok).toBe(false);
  });

  it('counts the end of a turn once, however often it is reported', () => {
    const { budget } = setup({ perSecond: 100, atOnce: 2 });
    const first = grant(budget);
    grant(budget);
    first.done('answered');
    first.done('answered');
    first.done('unavailable');
    grant(budget);
    expect(budget.take().ok).toBe(false);
  });

  it('is given back by a turn in which nothing was sent', () => {
    const { budget } = setup({ perSecond: 100, atOnce: 1 });
    grant(budget).done('unsent');
    grant(budget).done('unsent');
    grant(budget);
    expect(budget.take().ok).toBe(false);
  });
});

describe('the pause', () => {
  it('begins with the third failure in a row, not with the second', () => {
    const { budget } = setup();
    fail(budget, 2);
    expect(budget.isPaused).toBe(false);
    expect(waitOf(budget)).toBe(0);
    fail(budget, 1);
    expect(budget.isPaused).toBe(true);
    expect(waitOf(budget)).toBe(1_250);
  });

  it('does not begin when an answer came in between, whatever it said', () => {
    const { budget } = setup();
    fail(budget, 2);
    grant(budget).done('answered');
    fail(budget, 2);
    expect(budget.isPaused).toBe(false);
  });

  it('is neither begun nor ended by a turn in which nothing was sent', () => {
    const { clock, budget } = setup();
    fail(budget, 2);
    for (let count = 0; count < 5; count += 1) grant(budget).done('unsent');
    expect(budget.isPaused).toBe(false);
    fail(budget, 1);
    expect(budget.isPaused).toBe(true);
    clock.advance(1_000);
    grant(budget).done('unsent');
    expect(budget.isPaused).toBe(true);
    // The next one tries instead.
    grant(budget).done('answered');
    expect(budget.isPaused).toBe(false);
  });

  it('doubles from one second to thirty, each time with one renewal that tries', () => {
    const { clock, budget } = setup();
    fail(budget, 3);
    for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      clock.advance(pauseMs - 1);
      expect(budget.take().ok, `${pauseMs} ms, a moment before`).toBe(false);
      clock.advance(1);
      const probe = grant(budget);
      for (let count = 0; count < 20; count += 1) expect(budget.take().ok).toBe(false);
      probe.done('unavailable');
    }
  });

  it('is cut by a random part, at most by half', () => {
    const { clock, budget } = setup({ random: () => 0.999_999 });
    fail(budget, 3);
    clock.advance(500);
    expect(budget.take().ok).toBe(false);
    clock.advance(1);
    expect(budget.take().ok).toBe(true);
  });

  it('starts again at one second after an IdP that was back', () => {
    const { clock, budget } = setup();
    fail(budget, 3);
    for (const pauseMs of [1_000, 2_000, 4_000]) {
      clock.advance(pauseMs);
      fail(budget, 1);
    }
    clock.advance(8_000);
    grant(budget).done('answered');
    clock.advance(1_000);
    fail(budget, 3);
    clock.advance(999);
    expect(budget.take().ok).toBe(false);
    clock.advance(1);
    expect(budget.take().ok).toBe(true);
  });

  it('is one second also when many that were under way fail together', () => {
    const { clock, budget } = setup({ atOnce: 10 });
    const turns = Array.from({ length: 10 }, () => grant(budget));
    for (const { done } of turns) done('unavailable');
    clock.advance(999);
    expect(budget.take().ok).toBe(false);
    clock.advance(1);
    const probe = grant(budget);
    probe.done('unavailable');
    clock.advance(1_999);
    expect(budget.take().ok).toBe(false);
    clock.advance(1);
    expect(budget.take().ok).toBe(true);
  });

  it('waits with its try for those that are still under way, and is over when one of them is answered', () => {
    const { clock, budget } = setup();
    const slow = grant(budget);
    fail(budget, 3);
    clock.advance(1_000);
    expect(budget.take()).toEqual({ ok: false, retryAfterMs: 1_250 });
    slow.done('answered');
    expect(budget.isPaused).toBe(false);
    clock.advance(100);
    grant(budget);
  });

  it('is not prolonged by a clock that was set back', () => {
    const { clock, budget } = setup();
    fail(budget, 3);
    clock.advance(-3_600_000);
    expect(waitOf(budget)).toBeLessThanOrEqual(30_250);
    clock.advance(29_999);
    expect(budget.take().ok).toBe(false);
    clock.advance(1);
    grant(budget).done('answered');
    expect(budget.isPaused).toBe(false);
  });

  it('is followed by no burst: what comes next is as much as the seconds since bring', () => {
    const { clock, budget } = setup();
    fail(budget, 3);
    clock.advance(60_000);
    grant(budget).done('answered');
    expect(budget.take().ok).toBe(false);
    clock.advance(100);
    grant(budget);
    expect(budget.take().ok).toBe(false);
  });

  it('leaves the purse alone when there was none', () => {
    const { clock, budget } = setup();
    fail(budget, 2);
    clock.advance(1_000);
    grant(budget).done('answered');
    for (let count = 0; count < PER_SECOND - 1; count += 1) grant(budget);
    expect(budget.take().ok).toBe(false);
  });
});

describe('a clock that was set back', () => {
  it('stops nothing and gives nothing away', () => {
    const { clock, budget } = setup();
    for (let count = 0; count < PER_SECOND; count += 1) grant(budget).done('answered');
    clock.advance(-3_600_000);
    expect(budget.take().ok).toBe(false);
    clock.advance(100);
    grant(budget);
    expect(budget.take().ok).toBe(false);
  });
});

interface Caller {
  readonly at: number;
  /** Under way since then; `undefined` before its turn. */
  readonly turn: Granted | undefined;
}

/** Callers that come back after the given wait, until all were answered; gives when each renewal was sent. */
function simulate(
  seed: number,
  callers: number,
  isUp: (time: number) => boolean,
): { readonly sent: readonly number[]; readonly endedAt: number } {
  const { clock, budget } = setup({ random: createRandom(seed), atOnce: 16 });
  const sent: number[] = [];
  const queue: Caller[] = Array.from({ length: callers }, (_, index) => ({
    at: NOON + index,
    turn: undefined,
  }));
  while (queue.length > 0) {
    queue.sort((one, other) => one.at - other.at);
    const { at, turn: running } = queue.shift() ?? { at: NOON, turn: undefined };
    clock.set(at);
    if (running !== undefined) {
      running.done(isUp(at) ? 'answered' : 'unavailable');
      // The caller comes back after the wait that an unreachable IdP gives.
      if (!isUp(at)) queue.push({ at: at + 1_000, turn: undefined });
      continue;
    }
    const turn = budget.take();
    if (turn.ok) sent.push(at);
    queue.push({ at: at + (turn.ok ? 50 : turn.retryAfterMs), turn: turn.ok ? turn : undefined });
    if (at > NOON + 3_600_000) throw new Error('a caller waits for ever');
  }
  return { sent, endedAt: clock.now() };
}

describe('200 callers that come back after the given wait', () => {
  const BACK = NOON + 20_000;

  it('are all served after an outage: no burst as it ends, and never more in a second than it brings and the purse holds', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31), (seed) => {
        const { sent, endedAt } = simulate(seed, 200, (time) => time >= BACK);
        const after = sent.filter((time) => time + 50 >= BACK);
        expect(after).toHaveLength(200);
        const [first = 0] = after;
        expect(after.filter((time) => time < first + 1_000).length).toBeLessThanOrEqual(
          PER_SECOND + 1,
        );
        expect(busiestSecond(after)).toBeLessThanOrEqual(2 * PER_SECOND);
        // Twenty seconds at the configured rate, the longest pause, and what the spreading costs.
        expect(endedAt - BACK).toBeLessThanOrEqual(90_000);
      }),
      { numRuns: RUNS },
    );
  });

  it('ask an IdP that is away hardly at all', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31), (seed) => {
        const { sent } = simulate(seed, 200, (time) => time >= BACK);
        // The first purse, whose callers were under way together, and then one try after each pause.
        const away = sent.filter((time) => time + 50 < BACK);
        expect(away.length).toBeLessThanOrEqual(PER_SECOND + 6);
        expect(away.filter((time) => time > NOON + 1_000).length).toBeLessThanOrEqual(5);
      }),
      { numRuns: RUNS },
    );
  });

  it('are all served without an outage too', () => {
    const { sent, endedAt } = simulate(1, 200, () => true);
    expect(sent).toHaveLength(200);
    expect(endedAt - NOON).toBeLessThanOrEqual(60_000);
  });
});

describe('whatever happens', () => {
  it('no more run at once, and in any second, than the budget has; every other caller gets a wait', () => {
    const step = fc.oneof(
      fc.constant('take' as const),
      fc.constantFrom('answered' as const, 'unavailable' as const, 'unsent' as const),
      fc.integer({ min: -2_000, max: 5_000 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.nat(2 ** 31), (steps, seed) => {
        const { clock, budget } = setup({ random: createRandom(seed), perSecond: 5, atOnce: 4 });
        const running: Granted[] = [];
        let time = 0;
        const sent: number[] = [];
        for (const each of steps) {
          if (typeof each === 'number') {
            clock.advance(each);
            // What the clock really brought: setting it back brings nothing.
            time += Math.max(0, each);
          } else if (each === 'take') {
            const turn = budget.take();
            if (turn.ok) {
              running.push(turn);
              sent.push(time);
            } else {
              expect(turn.retryAfterMs).toBeGreaterThanOrEqual(250);
              expect(turn.retryAfterMs).toBeLessThanOrEqual(60_250);
              expect(Number.isInteger(turn.retryAfterMs)).toBe(true);
            }
          } else running.shift()?.done(each);
          expect(running.length).toBeLessThanOrEqual(4);
        }
        expect(busiestSecond(sent)).toBeLessThanOrEqual(10);
      }),
      { numRuns: RUNS },
    );
  });
});

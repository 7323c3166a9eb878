/**
 * Timers that fire when a test moves its clock.
 *
 * @module
 */

import type { Schedule } from '../../../server/src/time/schedule.ts';
import type { Clock } from './clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A schedule under the hand of a test. */
export class ClockTimers {
  readonly #clock: Clock;
  readonly #waiting = new Set<Timer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Bound, so that it can be passed on. */
  readonly schedule: Schedule = (afterMs, callback) => {
    const timer = { at: this.#clock.now() + afterMs, callback };
    this.#waiting.add(timer);
    return () => this.#waiting.delete(timer);
  };

  /** Number of timers that have not fired. */
  get pending(): number {
    return this.#waiting.size;
  }

  /** Moves the clock, fires what is due in its order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#clock.now() + ms;
    for (;;) {
      const [next] = [...this.#waiting]
        .filter(({ at }) => at <= end)
        .toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#waiting.delete(next);
      this.#clock.set(Math.max(this.#clock.now(), next.at));
      next.callback();
      await settled();
    }
    this.#clock.set(end);
    await settled();
  }
}

/** Lets everything that waits for nothing but promises come to its end. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

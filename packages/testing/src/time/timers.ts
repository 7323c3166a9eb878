/**
 * Timers that go off when a test says so.
 *
 * @module
 */

import type { Schedule } from '../../../server/src/time/schedule.ts';

interface Timer {
  readonly afterMs: number;
  readonly callback: () => void;
}

/** A schedule under the hand of a test. */
export class Timers {
  readonly #timers = new Set<Timer>();

  /** Bound, so that it can be passed on. */
  readonly schedule: Schedule = (afterMs, callback) => {
    const timer = { afterMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** The delays of all that wait, in milliseconds. */
  get waiting(): readonly number[] {
    return [...this.#timers].map(({ afterMs }) => afterMs);
  }

  /** Sets off every timer that waits with this delay; those they start wait for the next time. */
  fire(afterMs: number): void {
    for (const timer of [...this.#timers]) {
      if (timer.afterMs !== afterMs) continue;
      this.#timers.delete(timer);
      timer.callback();
    }
  }
}

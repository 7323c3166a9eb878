/**
 * A token bucket for each event: how many of its lines are written.
 *
 * @module
 */

import type { Schedule } from '../time/schedule.ts';
import type { EventRate } from './log-events.ts';

/** Settings and ports of {@link EventBudget}. */
export interface EventBudgetOptions<Event extends string> {
  readonly schedule: Schedule;
  /** Called from a timer once a second, with the number of lines that were left out. */
  readonly onSuppressed: (event: Event, count: number) => void;
}

interface Bucket {
  readonly rate: EventRate;
  tokens: number;
  suppressed: number;
}

const REFILL_MS = 1_000;

/**
 * A token bucket for each kind of event. It reads no clock: a timer fills the buckets, and runs only
 * while one of them is not full, so that a refusal that is left out costs a look-up and a decrement.
 */
export class EventBudget<Event extends string> {
  readonly #options: EventBudgetOptions<Event>;
  readonly #buckets = new Map<Event, Bucket>();
  #cancel: (() => void) | undefined;

  constructor(options: EventBudgetOptions<Event>) {
    this.#options = options;
  }

  /**
   * Whether one more may be written.
   *
   * @param event - One of a closed set of names: each has a bucket for good.
   */
  take(event: Event, rate: EventRate): boolean {
    let bucket = this.#buckets.get(event);
    if (bucket === undefined) {
      bucket = { rate, tokens: rate.burst, suppressed: 0 };
      this.#buckets.set(event, bucket);
    }
    this.#cancel ??= this.#options.schedule(REFILL_MS, this.#refill);
    if (bucket.tokens < 1) {
      bucket.suppressed += 1;
      return false;
    }
    bucket.tokens -= 1;
    return true;
  }

  /** Reports what was left out so far, and stops the timer. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#report();
  }

  readonly #refill = (): void => {
    this.#cancel = undefined;
    this.#report();
    let isFull = true;
    for (const bucket of this.#buckets.values()) {
      const { burst, perSecond } = bucket.rate;
      bucket.tokens = Math.min(burst, bucket.tokens + perSecond);
      if (bucket.tokens < burst) isFull = false;
    }
    if (!isFull) this.#cancel ??= this.#options.schedule(REFILL_MS, this.#refill);
  };

  #report(): void {
    for (const [event, bucket] of this.#buckets) {
      const { suppressed } = bucket;
      bucket.suppressed = 0;
      if (suppressed > 0) this.#options.onSuppressed(event, suppressed);
    }
  }
}

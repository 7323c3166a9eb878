/**
 * How many lines of one kind are written, so that nobody fills the disk by asking.
 *
 * @module
 */

import type { Schedule } from '../time/schedule.ts';

/** How much of one kind of event is written. */
export interface EventRate {
  /** At once, after a quiet time. */
  readonly burst: number;
  /** Afterwards, each second. */
  readonly perSecond: number;
}

/** Settings and ports of {@link EventBudget}. */
export interface EventBudgetOptions {
  readonly schedule: Schedule;
  /** Told once a second how many were left out; in the turn of a timer. */
  readonly onSuppressed: (event: string, count: number) => void;
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
export class EventBudget {
  readonly #options: EventBudgetOptions;
  readonly #buckets = new Map<string, Bucket>();
  #cancel: (() => void) | undefined;

  constructor(options: EventBudgetOptions) {
    this.#options = options;
  }

  /**
   * Whether one more may be written.
   *
   * @param event - One of a closed set of names: each has a bucket for good.
   */
  take(event: string, rate: EventRate): boolean {
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

  /** Tells what was left out so far, and stops the timer. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#tell();
  }

  readonly #refill = (): void => {
    this.#cancel = undefined;
    this.#tell();
    let isFull = true;
    for (const bucket of this.#buckets.values()) {
      const { burst, perSecond } = bucket.rate;
      bucket.tokens = Math.min(burst, bucket.tokens + perSecond);
      if (bucket.tokens < burst) isFull = false;
    }
    if (!isFull) this.#cancel ??= this.#options.schedule(REFILL_MS, this.#refill);
  };

  #tell(): void {
    for (const [event, bucket] of this.#buckets) {
      const { suppressed } = bucket;
      bucket.suppressed = 0;
      if (suppressed > 0) this.#options.onSuppressed(event, suppressed);
    }
  }
}

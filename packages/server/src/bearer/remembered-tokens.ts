/**
 * Verdicts on tokens kept in memory, so that a token is verified once and not at every request.
 *
 * @module
 */

import { BoundedCache } from '../verdict/bounded-cache.ts';
import type { Verdict } from '../verdict/verdict.ts';

/** What is kept of one token. */
export interface RememberedToken {
  readonly verdict: Verdict;
  /** Epoch milliseconds: neither before nor from then on is it recalled, also after a clock jump. */
  readonly decidedAt: number;
  readonly until: number;
  readonly generation: number;
}

const SWEEP_EVERY_MS = 60_000;

/** A bounded cache by a token's hash. */
export class RememberedTokens {
  readonly #byHash: BoundedCache<string, RememberedToken>;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** @param limit - Most entries. */
  constructor(limit: number) {
    this.#byHash = new BoundedCache(limit);
  }

  /** Number of entries. */
  get size(): number {
    return this.#byHash.size;
  }

  /** The verdict, while it stands: in its time and of the current generation. */
  get(key: string, now: number, generation: number): Verdict | undefined {
    const entry = this.#byHash.get(key);
    return entry !== undefined &&
      entry.generation === generation &&
      now >= entry.decidedAt &&
      now < entry.until
      ? entry.verdict
      : undefined;
  }

  /** Keeps a verdict; once a minute those that stand no longer go, so that short-lived tokens take no memory. */
  set(key: string, entry: RememberedToken): void {
    const now = entry.decidedAt;
    if (now - this.#sweptAt >= SWEEP_EVERY_MS || now < this.#sweptAt) {
      this.#sweptAt = now;
      this.#byHash.sweep(({ until }) => now >= until);
    }
    this.#byHash.set(key, entry);
  }
}

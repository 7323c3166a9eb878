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

/** A bounded cache by a token's hash. */
export class RememberedTokens {
  readonly #byHash: BoundedCache<string, RememberedToken>;

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

  set(key: string, entry: RememberedToken): void {
    this.#byHash.set(key, entry);
  }
}

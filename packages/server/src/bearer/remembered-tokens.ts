/**
 * Verdicts on tokens kept in memory, so that a token is verified once and not at every request.
 *
 * @module
 */

import type { Verdict } from '../verdict/verdict.ts';

/** What is kept of one token. */
export interface RememberedToken {
  readonly verdict: Verdict;
  /** Epoch milliseconds: neither before nor from then on is it recalled, also after a clock jump. */
  readonly decidedAt: number;
  readonly until: number;
  readonly generation: number;
}

/**
 * A bounded cache by a token's hash.
 *
 * Kept as two halves: when the younger is full the older is dropped whole. Making room costs nothing
 * that way, however many tokens are shown once and never again.
 */
export class RememberedTokens {
  readonly #halfLimit: number;
  #younger = new Map<string, RememberedToken>();
  #older = new Map<string, RememberedToken>();

  /** @param limit - Most entries, both halves together. */
  constructor(limit: number) {
    this.#halfLimit = Math.max(1, Math.floor(limit / 2));
  }

  /** Number of entries. */
  get size(): number {
    return this.#younger.size + this.#older.size;
  }

  /** The verdict, while it stands: in its time and of the current generation. */
  get(key: string, now: number, generation: number): Verdict | undefined {
    const entry = this.#younger.get(key) ?? this.#older.get(key);
    return entry !== undefined &&
      entry.generation === generation &&
      now >= entry.decidedAt &&
      now < entry.until
      ? entry.verdict
      : undefined;
  }

  set(key: string, entry: RememberedToken): void {
    if (this.#younger.size >= this.#halfLimit) {
      this.#older = this.#younger;
      this.#younger = new Map();
    }
    this.#older.delete(key);
    this.#younger.set(key, entry);
  }
}

/**
 * The time by which a token that this process holds is judged.
 *
 * @module
 */

import type { TokenSet } from '../token-set.ts';

/** Clocks of {@link TokenClock}. */
export interface TokenClockOptions {
  /** Epoch milliseconds. It may be set. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set; `performance.now` when absent. */
  readonly monotonic?: (() => number) | undefined;
}

/**
 * Wall clock and monotonic clock together, for one token at a time: whichever is further counts. A wall clock that is
 * set back does not make a token live longer, and a machine that slept, in which the monotonic one stands still, does
 * not either.
 */
export class TokenClock {
  readonly #now: () => number;
  readonly #monotonic: () => number;
  #held: { readonly accessToken: string; readonly offset: number } | undefined;

  constructor({ now, monotonic = () => performance.now() }: TokenClockOptions) {
    this.#now = now;
    this.#monotonic = monotonic;
  }

  /** Begins with a token; does nothing for the one that is held already. */
  hold({ accessToken, obtainedAt }: TokenSet): void {
    if (this.#held?.accessToken === accessToken) return;
    // What another process obtained before the clock was set back has its lifetime left at most.
    const since = Math.max(this.#now(), obtainedAt);
    this.#held = { accessToken, offset: since - this.#monotonic() };
  }

  /** Epoch milliseconds, for this token; by the wall clock alone where it is not the one that is held. */
  nowFor({ accessToken }: TokenSet): number {
    const now = this.#now();
    return this.#held?.accessToken === accessToken
      ? Math.max(now, this.#monotonic() + this.#held.offset)
      : now;
  }
}

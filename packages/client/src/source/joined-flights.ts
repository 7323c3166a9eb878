/**
 * One acquisition of tokens at a time, shared by the callers that it serves.
 *
 * @module
 */

import type { Result } from '@sallyport/protocol';
import type { TokenRefusal } from '../grant.ts';
import type { TokenSet } from '../token-set.ts';
import { SharedFlight } from './shared-flight.ts';
import type { TokenNeed, TokenNeedCheck } from './token-need.ts';

type Outcome = Result<TokenSet, TokenRefusal>;

/** Ports of {@link JoinedFlights}. */
export interface JoinedFlightsOptions {
  /** Acquires tokens; the signal aborts when no caller waits any longer. */
  readonly fly: (need: TokenNeed, signal: AbortSignal) => Promise<Outcome>;
  readonly isEnough: TokenNeedCheck;
}

/** Acquisitions, one after the other. */
export class JoinedFlights {
  readonly #options: JoinedFlightsOptions;
  #flight: { readonly need: TokenNeed; readonly shared: SharedFlight<Outcome> } | undefined;

  constructor(options: JoinedFlightsOptions) {
    this.#options = options;
  }

  /**
   * Joins what is under way, and takes its outcome when that was meant for the same need or is enough for this
   * one. A failure counts only for the need that it was meant for.
   */
  async acquire(need: TokenNeed, signal: AbortSignal | undefined): Promise<Outcome> {
    const { isEnough } = this.#options;
    for (;;) {
      signal?.throwIfAborted();
      const joined = this.#flight ?? this.#start(need);
      const isOurs = joined.need.minTtlMs === need.minTtlMs && joined.need.refused === need.refused;
      try {
        const outcome = await joined.shared.join(signal);
        if (isOurs || (outcome.ok && isEnough(outcome.value, need))) return outcome;
      } catch (failure) {
        signal?.throwIfAborted();
        if (isOurs && !joined.shared.isCalledOff) throw failure;
      }
    }
  }

  #start(need: TokenNeed): { readonly need: TokenNeed; readonly shared: SharedFlight<Outcome> } {
    const shared = new SharedFlight((signal) =>
      this.#options.fly(need, signal).finally(() => {
        this.#flight = undefined;
      }),
    );
    this.#flight = { need, shared };
    return this.#flight;
  }
}

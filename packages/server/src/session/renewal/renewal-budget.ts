/**
 * How many renewals the IdP is asked for, and how soon again after it was away.
 *
 * @module
 */

/** One renewal's place among those that run at once. */
export interface RenewalTurn {
  /**
   * Its answer has not come for long: that counts as a failure of the IdP, and the renewal gives its place to
   * another one, as long as there are places for those that only listen. Only the first call counts.
   */
  readonly unanswered: () => void;
  /** Only the first call counts. `unsent` says nothing about the IdP. */
  readonly done: (outcome: 'answered' | 'unavailable' | 'unsent') => void;
}

/** Whether a renewal may be sent now. */
export type Turn =
  | ({ readonly ok: true } & RenewalTurn)
  /** Milliseconds after which it makes sense to ask again. */
  | { readonly ok: false; readonly retryAfterMs: number };

/** Dependencies and limits of {@link RenewalBudget}. */
export interface RenewalBudgetOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** At least 0, below 1; spreads what would otherwise come at once. */
  readonly random: () => number;
  /** Renewals a second, on average. */
  readonly perSecond: number;
  /** Renewals under way at the same time. */
  readonly atOnce: number;
  /**
   * Renewals besides that only listen for an answer that is late; what exceeds it stays among those that run
   * at once until one of these comes to its end.
   */
  readonly listening: number;
}

const FAILURES_TO_PAUSE = 3;
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 30_000;

/**
 * A budget of its own for renewals, so that they can neither starve sign-ins nor flood an IdP that has
 * just come back.
 *
 * After three failures in a row nothing is sent for a while, doubling from one second to thirty, each
 * time cut by a random part; then one renewal tries. What had to wait is spread over as many seconds
 * as the budget needs for it: every refusal names another moment to ask again.
 */
export class RenewalBudget {
  readonly #options: RenewalBudgetOptions;
  #tokens: number;
  #filledAt: number;
  #running = 0;
  #listening = 0;
  /** Unanswered, and still running for want of a place to listen; oldest first. Each moves one over. */
  readonly #crowded = new Set<() => void>();
  #failures = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Callers that were sent away and have had no turn since; only to compute the next caller's wait. */
  #sentAway = 0;

  constructor(options: RenewalBudgetOptions) {
    this.#options = options;
    this.#tokens = options.perSecond;
    this.#filledAt = options.now();
  }

  /** Whether the IdP counts as away. */
  get isPaused(): boolean {
    return this.#failures >= FAILURES_TO_PAUSE;
  }

  /** Asks for a turn. A caller that gets one MUST report its outcome, once. */
  take(): Turn {
    const { now, atOnce } = this.#options;
    const time = now();
    this.#fill(time);
    if (this.isPaused) {
      // A clock that was set back must not prolong a pause.
      this.#pausedUntil = Math.min(this.#pausedUntil, time + LAST_PAUSE_MS);
      const leftMs = this.#pausedUntil - time;
      if (leftMs > 0) return this.#sendAway(leftMs);
      if (this.#running > this.#crowded.size) return this.#sendAway(FIRST_PAUSE_MS);
    }
    if (this.#running >= atOnce || this.#tokens < 1) return this.#sendAway(0);
    this.#tokens -= 1;
    this.#sentAway = Math.max(0, this.#sentAway - 1);
    return { ok: true, ...this.#begin() };
  }

  #begin(): RenewalTurn {
    let state: 'running' | 'listening' | 'done' = 'running';
    let isUnanswered = false;
    this.#running += 1;
    const listen = (): void => {
      this.#crowded.delete(listen);
      state = 'listening';
      this.#running -= 1;
      this.#listening += 1;
    };
    return {
      unanswered: () => {
        if (state !== 'running' || isUnanswered) return;
        isUnanswered = true;
        this.#note('unavailable');
        if (this.#listening < this.#options.listening) listen();
        else this.#crowded.add(listen);
      },
      done: (outcome) => {
        if (state === 'done') return;
        this.#crowded.delete(listen);
        if (state === 'running') this.#running -= 1;
        else {
          this.#listening -= 1;
          const [next] = this.#crowded;
          next?.();
        }
        state = 'done';
        // That no answer came is known since it was late.
        if (outcome === 'unsent' || (outcome === 'unavailable' && isUnanswered)) return;
        this.#note(outcome);
      },
    };
  }

  #note(outcome: 'answered' | 'unavailable'): void {
    const { now, random } = this.#options;
    if (outcome === 'answered') {
      // What piled up meanwhile starts with an empty purse, not with a burst.
      if (this.isPaused) this.#tokens = 0;
      this.#failures = 0;
      this.#pauseMs = FIRST_PAUSE_MS;
      return;
    }
    const time = now();
    this.#failures += 1;
    // Those that were under way together fail together: only what was tried after a pause prolongs it.
    if (!this.isPaused || time < this.#pausedUntil) return;
    this.#pausedUntil = time + this.#pauseMs * (1 - random() / 2);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LAST_PAUSE_MS);
  }

  #sendAway(leastMs: number): Turn {
    const { perSecond, random } = this.#options;
    // Callers that never return must not block the others for ever.
    this.#sentAway = Math.min(this.#sentAway + 1, perSecond * (LAST_PAUSE_MS / 1_000));
    const spreadMs = (this.#sentAway / perSecond) * 1_000;
    return { ok: false, retryAfterMs: Math.ceil(leastMs + 250 + spreadMs * random()) };
  }

  #fill(time: number): void {
    const { perSecond } = this.#options;
    const passedMs = Math.max(0, time - this.#filledAt);
    const gained = (passedMs / 1_000) * perSecond;
    this.#tokens = Math.min(perSecond, this.#tokens + gained);
    this.#sentAway = Math.max(0, this.#sentAway - gained);
    this.#filledAt = time;
  }
}

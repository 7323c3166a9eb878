/**
 * How many requests an endpoint gets: at once, in a second, and after failures.
 *
 * @module
 */

import type { Schedule } from '../../time/schedule.ts';

/** Limits and ports of {@link RequestBudget}. */
export interface RequestBudgetOptions {
  /** Most requests that begin within any one second. */
  readonly perSecond: number;
  readonly now: () => number;
  readonly schedule: Schedule;
}

interface Waiting {
  readonly since: number;
  readonly begin: () => void;
  readonly turnAway: () => void;
}

const SECOND_MS = 1_000;
const IN_FLIGHT_MAX = 16;
const WAITING_MAX = 64;
const WAITING_MAX_MS = 2_000;
/** After so many failures in a row nothing is asked for a while; then one request tries. */
const FAILURES_MAX = 5;
const PAUSE_MS = 10_000;

/**
 * Lets requests through, at most 16 at once and so many a second; a few more wait a little, the rest
 * are turned away. Tokens made up at random so cost the endpoint no more than the budget.
 */
export class RequestBudget {
  readonly #options: RequestBudgetOptions;
  readonly #waiting: Waiting[] = [];
  /** Times of the last `perSecond` beginnings, written round and round. */
  readonly #begunAt: number[];
  #next = 0;
  #inFlight = 0;
  #failures = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(options: RequestBudgetOptions) {
    this.#options = options;
    this.#begunAt = Array.from({ length: options.perSecond }, () => Number.NEGATIVE_INFINITY);
  }

  /**
   * Runs a request when it is its turn.
   *
   * @param request - Rejects when the endpoint is down or answers nonsense: that counts as a failure.
   *
   * @returns What the request gives; `undefined` when there is no room for it or the endpoint is not
   *   asked at the moment.
   */
  async run<T>(request: () => Promise<T>): Promise<T | undefined> {
    if (this.#isPaused || !(await this.#isAdmitted())) return undefined;
    try {
      const result = await request();
      this.#failures = 0;
      return result;
    } catch (error) {
      this.#failures += 1;
      if (this.#failures >= FAILURES_MAX) this.#pausedUntil = this.#options.now() + PAUSE_MS;
      throw error;
    } finally {
      this.#inFlight -= 1;
      this.#advance();
    }
  }

  /** Turns away the requests that wait. */
  close(): void {
    this.#cancel?.();
    for (const { turnAway } of this.#waiting.splice(0)) turnAway();
  }

  /** A clock that was set back must not prolong a pause. */
  get #isPaused(): boolean {
    const left = this.#pausedUntil - this.#options.now();
    return left > 0 && left <= PAUSE_MS;
  }

  #isAdmitted(): Promise<boolean> | boolean {
    if (this.#waiting.length === 0 && this.#mayBegin()) {
      this.#begin();
      return true;
    }
    if (this.#waiting.length >= WAITING_MAX) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push({
      since: this.#options.now(),
      begin: () => {
        this.#begin();
        resolve(true);
      },
      turnAway: () => resolve(false),
    });
    this.#wakeUp();
    return promise;
  }

  #begin(): void {
    this.#inFlight += 1;
    this.#begunAt[this.#next] = this.#options.now();
    this.#next = (this.#next + 1) % this.#begunAt.length;
  }

  #mayBegin(): boolean {
    // While the endpoint fails one request at a time finds out whether it is back.
    const most = this.#failures >= FAILURES_MAX ? 1 : IN_FLIGHT_MAX;
    return this.#inFlight < most && this.#untilNextBeginning() === 0;
  }

  #untilNextBeginning(): number {
    const age = this.#options.now() - (this.#begunAt[this.#next] ?? Number.NEGATIVE_INFINITY);
    return age < 0 || age >= SECOND_MS ? 0 : SECOND_MS - age;
  }

  #advance(): void {
    const now = this.#options.now();
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      if (this.#isPaused || now - first.since > WAITING_MAX_MS) {
        this.#waiting.shift();
        first.turnAway();
      } else if (this.#mayBegin()) {
        this.#waiting.shift();
        first.begin();
      } else {
        this.#wakeUp();
        return;
      }
    }
  }

  /** Looks again when the second is over; a request that ends looks by itself. */
  #wakeUp(): void {
    const afterMs = this.#untilNextBeginning();
    if (afterMs === 0 || this.#cancel !== undefined) return;
    this.#cancel = this.#options.schedule(afterMs, () => {
      this.#cancel = undefined;
      this.#advance();
    });
  }
}

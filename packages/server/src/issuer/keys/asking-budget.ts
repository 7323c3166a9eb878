/**
 * Rate limit for fetching an issuer's keys because of tokens.
 *
 * @module
 */

const MINUTE_MS = 60_000;

/** Limits of {@link AskingBudget}. */
export interface AskingLimits {
  readonly perMinute: number;
  /** Least distance after a fetch that brought something new, after one that did not, after two; the last one stays. */
  readonly distancesMs: readonly number[];
}

/**
 * So many fetches in any minute, and a distance between two of them that grows while they bring nothing new:
 * made-up key ids then do not use up in five seconds what a key taken into use a moment later needs.
 */
export class AskingBudget {
  readonly #now: () => number;
  readonly #limits: AskingLimits;
  #begunAt: readonly number[] = [];
  /** Fetches in a row that brought nothing new. */
  #inVain = 0;

  constructor(now: () => number, limits: AskingLimits) {
    this.#now = now;
    this.#limits = limits;
  }

  /** Milliseconds until the next fetch may begin; 0 when it may now. */
  get untilMs(): number {
    const now = this.#now();
    const recent = this.#recent(now);
    const last = recent.at(-1);
    if (last === undefined) return 0;
    const { perMinute, distancesMs } = this.#limits;
    const distanceMs = distancesMs[Math.min(this.#inVain, distancesMs.length - 1)] ?? 0;
    const first = recent.length < perMinute ? undefined : recent.at(-perMinute);
    const untilOneIsOver = first === undefined ? 0 : first + MINUTE_MS - now;
    return Math.max(0, last + distanceMs - now, untilOneIsOver);
  }

  /** Takes one. */
  begin(): void {
    const now = this.#now();
    const recent = this.#recent(now);
    if (recent.length === 0) this.#inVain = 0;
    this.#begunAt = [...recent, now];
  }

  /** Beginnings within the last minute; times of a clock that was set back since must not stop the asking. */
  #recent(now: number): readonly number[] {
    return this.#begunAt.filter((at) => at <= now && now - at < MINUTE_MS);
  }

  /** Says what came of it. */
  end(hasBroughtNews: boolean): void {
    this.#inVain = hasBroughtNews ? 0 : this.#inVain + 1;
  }
}

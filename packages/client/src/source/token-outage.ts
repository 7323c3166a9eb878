/**
 * A time in which no token could be obtained: since when, why, and when the next attempt is.
 *
 * @module
 */

import { type Result, refuse, SallyportError } from '@sallyport/protocol';
import type { TokenRefusal } from '../grant.ts';
import { RETRY_AFTER_MOST_SECONDS } from '../metadata/retry-after.ts';

/** Steps of the back-off, in milliseconds; the last one is repeated. */
const STEPS_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000] as const;
/** A missing or unusable secret costs no request, only a look at a file: it is looked for more often. */
const SECRET_STEP_MOST_MS = 4_000;

/** One failed attempt. */
interface Failed {
  /** Epoch milliseconds. */
  readonly at: number;
  /** A {@link TokenRefusal}, a {@link SallyportError}, or a fault of the program. */
  readonly failure: unknown;
}

/** Failed attempts since the last one that worked. */
export class TokenOutage {
  readonly #random: () => number;
  #first: Failed | undefined;
  #last: Failed | undefined;
  #attempts = 0;
  #retryAt: number | undefined;

  /** @param random - Numbers in [0, 1). */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Epoch milliseconds of the first failure; `undefined` while there is no outage. */
  get since(): number | undefined {
    return this.#first?.at;
  }

  /** Epoch milliseconds of the next attempt. */
  get retryAt(): number | undefined {
    return this.#retryAt;
  }

  /** Failed attempts so far. */
  get attempts(): number {
    return this.#attempts;
  }

  /**
   * Notes a failure. The next attempt is after one to two times the step of the back-off (1, 2, 4, 8, 16, 30 s),
   * or after one to two times `Retry-After`, of which 5 minutes count at most, if that is longer. A secret that cannot be read is
   * looked for every 4 to 8 seconds.
   */
  note(failure: unknown, now: number): void {
    this.#last = { at: now, failure };
    this.#first ??= this.#last;
    const step = STEPS_MS[Math.min(this.#attempts, STEPS_MS.length - 1)] ?? 0;
    this.#attempts += 1;
    const leastMs = isSecretMissing(failure)
      ? Math.min(step, SECRET_STEP_MOST_MS)
      : Math.max(step, retryAfterMs(failure));
    this.#retryAt = now + leastMs * (1 + this.#random());
  }

  /** A token was obtained. */
  end(): void {
    this.#first = undefined;
    this.#last = undefined;
    this.#attempts = 0;
    this.#retryAt = undefined;
  }

  /**
   * One sentence: since when there is no token, and why. Names the first cause, and the last where it differs.
   *
   * @returns `undefined` while there is no outage.
   */
  describe(): string | undefined {
    const [first, last] = [this.#first, this.#last];
    if (first === undefined || last === undefined) return undefined;
    const [why, whyNow] = [causeOf(first.failure), causeOf(last.failure)];
    const since = `no token was obtained since ${timeOf(first)}: ${why}`;
    return why === whyNow ? since : `${since}; at ${timeOf(last)}: ${whyNow}`;
  }

  /**
   * What a call without a token gets.
   *
   * @returns The refusal of the last attempt, its description with {@link describe}.
   * @throws {SallyportError} The failure of the last attempt, its detail with {@link describe}. A fault of the
   *   program is thrown as it is.
   */
  fail(): Result<never, TokenRefusal> {
    const failure = this.#last?.failure;
    const detail = this.describe() ?? '';
    if (failure instanceof SallyportError)
      throw new SallyportError(failure.code, {
        component: failure.component,
        detail,
        ...(failure.retryAfterSeconds === undefined
          ? {}
          : { retryAfterSeconds: failure.retryAfterSeconds }),
        cause: failure,
      });
    if (!isRefusal(failure)) throw failure;
    const sentence = `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
    return refuse({ ...failure, description: sentence });
  }
}

function timeOf({ at }: Failed): string {
  return new Date(at).toISOString();
}

function causeOf(failure: unknown): string {
  if (isRefusal(failure)) return failure.description.replace(/\.$/, '');
  if (!(failure instanceof SallyportError)) return 'a fault of the program';
  const prefix = `${failure.code} (${failure.component})`;
  const detail = failure.message.slice(prefix.length).replace(/^: /, '');
  return detail === '' ? failure.code : detail;
}

function isRefusal(failure: unknown): failure is TokenRefusal {
  return (
    typeof failure === 'object' &&
    failure !== null &&
    !(failure instanceof Error) &&
    'description' in failure
  );
}

function isSecretMissing(failure: unknown): boolean {
  return isRefusal(failure) && failure.error === 'client_secret_unavailable';
}

function retryAfterMs(failure: unknown): number {
  const seconds = failure instanceof SallyportError ? (failure.retryAfterSeconds ?? 0) : 0;
  return Math.min(seconds, RETRY_AFTER_MOST_SECONDS) * 1_000;
}

/**
 * Slows down guessing of passwords.
 *
 * @module
 */

/** Failed attempts admitted for one login from one address before it has to wait. */
export const FAILURES_MAX = 10;

/** How long a failed attempt counts, in milliseconds. */
export const FAILURE_WINDOW_MS: number = 15 * 60 * 1_000;

/** Counts held at a time; the one whose last failure is longest ago is dropped for a new one. */
export const COUNTS_MAX = 10_000;

/** Who tries. */
export interface SignInAttempt {
  /** Untrusted. */
  readonly login: string;
  /** Address of the peer, as the socket names it. */
  readonly address: string;
}

/** Counts failed sign-ins by login and address. */
export interface SignInLimiter {
  /** Seconds to wait before the next attempt; 0 when it may be made now. */
  retryAfterSeconds(attempt: SignInAttempt): number;
  recordFailure(attempt: SignInAttempt): void;
  /** Forgets the failures of a login from an address, after it succeeded there. */
  forget(attempt: SignInAttempt): void;
}

/**
 * Creates a limiter that admits {@link FAILURES_MAX} failures in a sliding window for each login
 * and address, so that guesses from one address lock out no other address.
 *
 * Does not stop guessing from many addresses; made-up passwords of 80 bits do. All logins that are
 * not known share one count for each address.
 *
 * @param logins - Logins that have counts of their own.
 * @param now - Current time in epoch milliseconds.
 */
export function createSignInLimiter(logins: readonly string[], now: () => number): SignInLimiter {
  const failuresByKey = new Map<string, readonly number[]>();
  const keyOf = ({ login, address }: SignInAttempt): string =>
    `${address} ${logins.includes(login) ? login : ''}`;
  const recent = (attempt: SignInAttempt): number[] => {
    const since = now() - FAILURE_WINDOW_MS;
    return (failuresByKey.get(keyOf(attempt)) ?? []).filter((time) => time > since);
  };

  return {
    retryAfterSeconds(attempt) {
      const failures = recent(attempt);
      const decisive = failures.at(-FAILURES_MAX);
      if (decisive === undefined) return 0;
      return Math.ceil((decisive + FAILURE_WINDOW_MS - now()) / 1_000);
    },
    recordFailure(attempt) {
      const failures = [...recent(attempt), now()].slice(-FAILURES_MAX);
      // Deleted first, so that the order of the map is the order of the last failures.
      failuresByKey.delete(keyOf(attempt));
      const [oldest] = failuresByKey.keys();
      if (failuresByKey.size >= COUNTS_MAX && oldest !== undefined) failuresByKey.delete(oldest);
      failuresByKey.set(keyOf(attempt), failures);
    },
    forget(attempt) {
      failuresByKey.delete(keyOf(attempt));
    },
  };
}

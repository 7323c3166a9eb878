/**
 * Slows down guessing of passwords.
 *
 * @module
 */

/** Failed attempts admitted for one login before it has to wait. */
export const FAILURES_MAX = 10;

/** How long a failed attempt counts, in milliseconds. */
export const FAILURE_WINDOW_MS: number = 15 * 60 * 1_000;

/** Counts failed sign-ins by login. */
export interface SignInLimiter {
  /** Seconds to wait before the next attempt; 0 when it may be made now. */
  retryAfterSeconds(login: string): number;
  recordFailure(login: string): void;
  /** Forgets the failures of a login, after it succeeded. */
  forget(login: string): void;
}

/**
 * Creates a limiter that admits {@link FAILURES_MAX} failures in a sliding window for each login.
 *
 * All logins that are not known share one count, so that its memory is bounded by `logins`.
 *
 * @param logins - Logins that have a count of their own.
 * @param now - Current time in epoch milliseconds.
 */
export function createSignInLimiter(logins: readonly string[], now: () => number): SignInLimiter {
  const failuresByLogin = new Map<string, number[]>();
  const keyOf = (login: string): string => (logins.includes(login) ? login : '');
  const recent = (login: string): number[] => {
    const since = now() - FAILURE_WINDOW_MS;
    return (failuresByLogin.get(keyOf(login)) ?? []).filter((time) => time > since);
  };

  return {
    retryAfterSeconds(login) {
      const failures = recent(login);
      const decisive = failures.at(-FAILURES_MAX);
      if (decisive === undefined) return 0;
      return Math.ceil((decisive + FAILURE_WINDOW_MS - now()) / 1_000);
    },
    recordFailure(login) {
      failuresByLogin.set(keyOf(login), [...recent(login), now()].slice(-FAILURES_MAX));
    },
    forget(login) {
      failuresByLogin.delete(keyOf(login));
    },
  };
}

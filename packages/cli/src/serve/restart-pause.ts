/**
 * How soon a worker that ended is started again, and when that is no longer worth trying.
 *
 * @module
 */

/** The recent starts and ends of one worker. */
export interface RestartPause {
  /** To be called at every start. */
  started(): void;
  /**
   * To be called at every unexpected end.
   *
   * @param wasListening - Whether it had got as far as serving requests.
   *
   * @returns Milliseconds to wait; `give_up` when it failed to get ready three times within 10 s.
   */
  ended(wasListening: boolean): number | 'give_up';
}

const FAILURES_MAX = 3;
const FAILURE_WINDOW_MS = 10_000;
/** A worker that ran for this long is started again at once. */
const STEADY_MS = 10_000;
const SHORTEST_MS = 100;
const LONGEST_MS = 5_000;

/**
 * Creates the memory for one worker. The pause doubles with every end that follows soon upon a start,
 * from 100 ms to 5 s: what ends one worker after the other must not also take the processor.
 *
 * @param now - Epoch milliseconds.
 */
export function createRestartPause(now: () => number): RestartPause {
  let startedAt = 0;
  let earlyEnds = 0;
  let failures: readonly number[] = [];

  return {
    started() {
      startedAt = now();
    },
    ended(wasListening) {
      const time = now();
      const recent = failures.filter((failedAt) => failedAt > time - FAILURE_WINDOW_MS);
      failures = wasListening ? [] : [...recent, time];
      if (failures.length >= FAILURES_MAX) return 'give_up';
      earlyEnds = time - startedAt < STEADY_MS ? earlyEnds + 1 : 0;
      return earlyEnds === 0 ? 0 : Math.min(LONGEST_MS, SHORTEST_MS * 2 ** (earlyEnds - 1));
    },
  };
}

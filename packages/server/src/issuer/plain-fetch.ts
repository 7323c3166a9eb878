/**
 * The requests to issuers that may be sent again: they share connections.
 *
 * @module
 */

import type { Schedule } from '../time/schedule.ts';
import { createHttpFetch, NotSentError } from './http-fetch.ts';

/** An idle connection is closed after so long, or before where the server says how long it keeps one. */
const IDLE_MS = 4_000;

/**
 * Creates a fetch in the place of the runtime's own, as `createHttpFetch` describes it. An idle connection does
 * not keep the process alive.
 *
 * Rejects as the runtime's own does: with the signal's reason, or with a `TypeError` that has the failure as its cause.
 */
export function createPlainFetch(schedule: Schedule): typeof fetch {
  const httpFetch = createHttpFetch({
    schedule,
    connections: { keepAlive: true, timeout: IDLE_MS },
  });
  return (input, init) =>
    httpFetch(input, init).catch((failure: unknown) => {
      const cause = failure instanceof NotSentError ? failure.cause : failure;
      const { signal } = init ?? {};
      if (signal?.aborted === true && cause === signal.reason) throw cause;
      throw new TypeError('fetch failed', { cause });
    });
}

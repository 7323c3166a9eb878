/**
 * Logs changes of an operation that fails and is retried: each new reason once, and the recovery.
 *
 * @module
 */

import { describeFailure } from '@sallyport/server/observe';

/**
 * Creates a function to call after every attempt: logs once for each reason that it failed, not for each
 * attempt, and once that it is well again. Says nothing of what was well from the start.
 *
 * @returns Takes what was in the way; nothing when nothing was.
 */
export function logChanges(
  failed: (failure: string, cause: unknown) => void,
  restored: () => void,
): (cause?: unknown) => void {
  let logged: string | undefined;
  return (cause) => {
    const failure = cause === undefined ? undefined : describeFailure(cause);
    if (failure === logged) return;
    logged = failure;
    if (failure === undefined) restored();
    else failed(failure, cause);
  };
}

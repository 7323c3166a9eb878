/**
 * Requests that end with a signal of the command.
 *
 * @module
 */

/** The same fetch, whose requests, their answers' bodies included, end with this signal as well as with their own. */
export function endFetchWith(signal: AbortSignal, send: typeof fetch): typeof fetch {
  return (input, init) => {
    const own = init?.signal;
    const either = own === undefined || own === null ? signal : AbortSignal.any([own, signal]);
    return send(input, { ...init, signal: either });
  };
}

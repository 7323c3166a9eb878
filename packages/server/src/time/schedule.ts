/**
 * The timer that parts are given, so that tests move the time themselves.
 *
 * @module
 */

/** Calls `callback` once after `afterMs` milliseconds. Returns a function that cancels the call. */
export type Schedule = (afterMs: number, callback: () => void) => () => void;

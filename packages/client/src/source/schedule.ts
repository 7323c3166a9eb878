/**
 * The timer of a source that works in the background.
 *
 * @module
 */

/** Calls `callback` once after `afterMs` milliseconds. Returns a function that cancels the call. */
export type Schedule = (afterMs: number, callback: () => void) => () => void;

/** Schedules without keeping the process alive: a service ends when its own work has ended. */
export const scheduleUnref: Schedule = (afterMs, callback) => {
  const timer = setTimeout(callback, afterMs);
  timer.unref();
  return () => clearTimeout(timer);
};

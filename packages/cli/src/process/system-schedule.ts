/**
 * The timers of the system.
 *
 * @module
 */

import type { Schedule } from '@sallyport/server/observe';

/** The system's timers. One that waits does not keep the process alive. */
export const systemSchedule: Schedule = (afterMs, callback) => {
  const timer = setTimeout(callback, afterMs);
  timer.unref();
  return () => clearTimeout(timer);
};

/**
 * The log of a process that should stay small: the lines of the service's own log, without its library.
 *
 * @module
 */

import type { Config } from '@sallyport/config';
import { escapeUnprintable } from '@sallyport/protocol';
import type { Log, LogLevel } from '@sallyport/server/observe';

/** Both ladders on one scale; an audit line is written at every threshold but `silent`. */
const SEVERITY: Readonly<Record<LogLevel | Config['observe']['logLevel'], number>> = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  audit: 70,
  silent: Number.POSITIVE_INFINITY,
};

/**
 * Creates the log. It redacts nothing: nothing that is secret is known where it is used.
 *
 * @param now - Epoch milliseconds.
 * @param write - Takes a line with its line feed.
 */
export function createLineLog(
  threshold: Config['observe']['logLevel'],
  now: () => number,
  write: (line: string) => void,
): Log {
  return (level, event, fields = {}) => {
    if (SEVERITY[level] < SEVERITY[threshold]) return;
    const time = new Date(now()).toISOString();
    write(`${escapeUnprintable(JSON.stringify({ level, time, event, ...fields }))}\n`);
  };
}

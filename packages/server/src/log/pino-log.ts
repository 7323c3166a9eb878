/**
 * The log on pino: one JSON line an event, on a stream the caller names.
 *
 * @module
 */

import { escapeUnprintable } from '@sallyport/protocol';
import { type DestinationStream, pino } from 'pino';
import type { Log } from './log.ts';
import { redactFields } from './log-redaction.ts';

/** Level from which lines are written; audit lines are written at every one but `silent`. */
export type LogThreshold = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Creates the log. A line holds nothing that a terminal would obey. */
export function createPinoLog(threshold: LogThreshold, destination: DestinationStream): Log {
  const logger = pino(
    {
      level: threshold,
      customLevels: { audit: 70 },
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => destination.write(writable(line)) },
  );
  return (level, event, fields = {}) => {
    if (logger.isLevelEnabled(level)) logger[level]({ event, ...redactFields(fields) });
  };
}

/** The line feed at its end is the only character of a line that is no text. */
function writable(line: string): string {
  return `${escapeUnprintable(line.slice(0, -1))}\n`;
}

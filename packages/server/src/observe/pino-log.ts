/**
 * The log on pino: one JSON line an event, on a stream the caller names.
 *
 * @module
 */

import { type DestinationStream, pino } from 'pino';
import type { Log } from './log.ts';

/** Level from which lines are written; audit lines are written at every one but `silent`. */
export type LogThreshold = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Names under which a secret would travel: a field so named is replaced, whatever it holds. */
const REDACTED = [
  'token',
  'secret',
  'cookie',
  'code',
  'password',
  'authorization',
  'state',
  'id_token',
  'access_token',
  'refresh_token',
];

/** Creates the log. */
export function createPinoLog(threshold: LogThreshold, destination: DestinationStream): Log {
  const logger = pino(
    {
      level: threshold,
      customLevels: { audit: 70 },
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED, censor: '[redacted]' },
    },
    destination,
  );
  return (level, event, fields = {}) => logger[level]({ event, ...fields });
}

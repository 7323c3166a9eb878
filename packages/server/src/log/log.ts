/**
 * Port: the structured log, and how a failure is described without giving anything away.
 *
 * @module
 */

import type { LevelOf, LogEvent } from './log-events.ts';

/** What stands in a field of a line. `undefined` leaves the field out. */
export type LogValue = string | number | boolean | readonly string[] | null | undefined;

/** Values a log line may hold, in snake_case. Never a token, cookie, code, secret or header value. */
export interface LogFields {
  /** A session as its eight characters, see `formatSessionId`; never its number. */
  readonly session?: string | null | undefined;
  /** The id that the answer carries, too. */
  readonly request_id?: string | null | undefined;
  /** The former spelling, so that there is one. */
  readonly requestId?: never;
  readonly [name: string]: LogValue;
}

/** Writes one line: an event of the table, with one of its levels, and fields. */
export type Log = <Event extends LogEvent>(
  level: LevelOf<Event>,
  event: Event,
  fields?: LogFields,
) => void;

/** Libraries whose messages are fixed text, by the prefix of their error codes. */
const FIXED_MESSAGE_CODES =
  /^(?:SP_|E[A-Z]+$|ERR_SQLITE|ERR_TLS|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|OAUTH_|UND_ERR)/;
const CAUSES_MAX = 5;

/**
 * Describes a failure for the log: class, code and message of it and its causes.
 *
 * The message of an error is shown only where it is known to be fixed text; a parser's quotes its
 * input, and an input may be a secret.
 */
export function describeFailure(cause: unknown): string {
  const parts: string[] = [];
  let error: unknown = cause;
  while (error instanceof Error && parts.length < CAUSES_MAX) {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
    const isShown = FIXED_MESSAGE_CODES.test(code) || isPlainFetchFailure(error);
    parts.push(describeOne(error, code, isShown ? error.message : ''));
    error = error.cause;
  }
  return parts.length === 0 ? 'unknown' : parts.join(' <- ');
}

/** Our own messages and those of the system begin with the code: it is said once. */
function describeOne({ name }: Error, code: string, message: string): string {
  if (code === '') return message === '' ? name : `${name}: ${message}`;
  if (message === '') return `${name} ${code}`;
  const isSaid = message.startsWith(code) && !/\w/.test(message.charAt(code.length));
  return isSaid ? `${name} ${message}` : `${name} ${code}: ${message}`;
}

function isPlainFetchFailure(error: Error): boolean {
  return (
    error.name === 'TimeoutError' || error.name === 'AbortError' || error.message === 'fetch failed'
  );
}

/**
 * The log of an actor: a line of JSON for each event, on stderr.
 *
 * @module
 */

import { writeSync } from 'node:fs';

/** Writes an event. Fields hold no secret. */
export type LogEvent = (
  level: 'info' | 'warn' | 'error',
  event: string,
  fields: Readonly<Record<string, unknown>>,
) => void;

const STDERR = 2;

/** Creates the log. Written at once: a process that is about to exit loses no line. */
export function createActorLog(actor: string): LogEvent {
  return (level, event, fields) => {
    const line = { level, time: new Date().toISOString(), event, actor, ...fields };
    try {
      writeSync(STDERR, `${JSON.stringify(line)}\n`);
    } catch {
      // The reader has gone, and this process ends with it.
    }
  };
}

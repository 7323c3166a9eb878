/**
 * Where a command of an operator leaves its audit lines.
 *
 * @module
 */

import type { Config } from '@sallyport/config';
import { createPinoLog } from '@sallyport/server';
import { describeFailure, type Log, openAuditLog } from '@sallyport/server/observe';
import { systemSchedule } from '../process/system-schedule.ts';

/** A log for one command. */
export interface OperatorLog {
  readonly log: Log;
  /** Resolves once every line is written. */
  close(): Promise<void>;
}

/**
 * Opens the file that the service appends its audit stream to. It is not made when it is not there: it would
 * belong to the operator, and the service could not write it.
 *
 * Without one, or when it cannot be opened, the lines go to standard error, unless that is a terminal: there
 * the command says the same in words. Ending a session is not put off for the sake of its record.
 */
export function openOperatorLog({ logLevel, audit }: Config['observe']): OperatorLog {
  const written = createPinoLog(logLevel, process.stderr);
  const log: Log = (...line) => {
    if (!process.stderr.isTTY || line[0] !== 'audit') written(...line);
  };
  const plain = { log, close: async () => {} };
  if (audit.file === '') return plain;
  try {
    return openAuditLog({
      path: audit.file,
      mayCreate: false,
      log,
      now: Date.now,
      schedule: systemSchedule,
    });
  } catch (cause) {
    log('error', 'audit_not_written', { file: audit.file, failure: describeFailure(cause) });
    return plain;
  }
}

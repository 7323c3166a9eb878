/**
 * A log whose audit lines go to a file of their own.
 *
 * @module
 */

import { escapeUnprintable } from '@sallyport/protocol';
import { describeFailure, type Log, type LogFields } from '../log/log.ts';
import { redactFields } from '../log/log-redaction.ts';
import type { Schedule } from '../time/schedule.ts';
import { createAudit, NO_PRINCIPAL, NO_REQUEST } from './audit.ts';
import { type AuditFile, type AuditFileOptions, openAuditFile } from './audit-file.ts';

/** Settings and ports of {@link openAuditLog}. */
export interface AuditLogOptions extends Pick<AuditFileOptions, 'path' | 'mayCreate'> {
  /** What every line of the file has besides. */
  readonly common?: LogFields;
  /** Takes every other line, and those that do not get into the file. */
  readonly log: Log;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly schedule: Schedule;
}

/** The log and the file behind it. */
export interface AuditLog
  extends Pick<AuditFile, 'reopen' | 'close' | 'failures' | 'elsewhere' | 'waiting'> {
  readonly log: Log;
}

/**
 * Opens the file. Its lines are those of the log, byte for byte but for the time.
 *
 * A line that cannot be written is not lost: it goes to the log. When the file takes lines again, it says
 * how many stand there instead.
 *
 * @throws {SallyportError} `SP_AUDIT_UNUSABLE` when the file cannot be opened.
 */
export function openAuditLog(options: AuditLogOptions): AuditLog {
  const { common, log, now, path } = options;
  const file = openAuditFile({
    ...options,
    onFailure: (cause) =>
      log('error', 'audit_not_written', { file: path, failure: describeFailure(cause) }),
    onRecovery(elsewhere) {
      log('info', 'audit_written_again', { elsewhere });
      createAudit(send)({
        event: 'audit_resumed',
        ...NO_PRINCIPAL,
        session: undefined,
        ...NO_REQUEST,
        reason: 'write_failed',
        elsewhere,
      });
    },
  });
  return {
    log: (level, event, fields) => (level === 'audit' ? send : log)(level, event, fields),
    reopen: () => file.reopen(),
    close: () => file.close(),
    get failures() {
      return file.failures;
    },
    get elsewhere() {
      return file.elsewhere;
    },
    get waiting() {
      return file.waiting;
    },
  };

  function send(...[level, event, fields = {}]: Parameters<Log>): void {
    const time = new Date(now()).toISOString();
    const entry = { level, time, event, ...redactFields(fields), ...common };
    const line = escapeUnprintable(JSON.stringify(entry));
    file.write(`${line}\n`, () => log(level, event, fields));
  }
}

/**
 * The log of the service: its lines bounded, those of the audit stream in their own file where one is named.
 *
 * @module
 */

import type { Config } from '@sallyport/config';
import { createPinoLog } from '@sallyport/server';
import { boundLog, type Log, type Metrics } from '@sallyport/server/observe';
import { systemSchedule } from '../process/system-schedule.ts';
import { openAuditStream } from './audit-stream.ts';
import { boundLines } from './bounded-lines.ts';
import type { ProcessLog } from './process-log.ts';

/**
 * Opens the log on standard error.
 *
 * @param worker - Said in every line; absent where one process is all there is.
 * @param metrics - Counts lines and events.
 *
 * @throws {SallyportError} `SP_AUDIT_UNUSABLE` when the file of `observe.audit.file` cannot be opened.
 */
export function openServiceLog(
  { logLevel, audit }: Config['observe'],
  worker?: number,
  metrics?: Metrics,
): ProcessLog {
  const stderr = boundLines(process.stderr, (lines) => logLeftOut(plain, lines));
  const written = createPinoLog(logLevel, stderr);
  const common = worker === undefined ? {} : { worker };
  const plain: Log = (level, event, fields) => written(level, event, { ...fields, ...common });
  const stream = openAuditStream(audit.file, {
    common,
    log: metrics?.countDivertedAuditLines(plain) ?? plain,
  });
  if (stream !== undefined) metrics?.followAuditFile(stream);
  const lines = stream?.log ?? plain;
  const { log, close } = boundLog(metrics?.countAuditLines(lines) ?? lines, systemSchedule);
  return {
    log: metrics?.countEvents(log) ?? log,
    auditFile: stream,
    reopen: () => stream?.reopen(),
    async close() {
      close();
      await stream?.close();
    },
  };
}

function logLeftOut(log: Log, lines: number): void {
  log('warn', 'log_lines_left_out', { lines });
}

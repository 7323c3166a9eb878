/**
 * The log of the service: its lines bounded, those of the audit stream in their own file where one is named.
 *
 * @module
 */

import type { Config } from '@sallyport/config';
import {
  type AuditLog,
  type AuditLogOptions,
  boundLog,
  createPinoLog,
  type Log,
  type Metrics,
  openAuditLog,
} from '@sallyport/server';
import { systemSchedule } from '../ports.ts';
import { createLineLog } from '../serve/line-log.ts';

/** A log for as long as the process lives. */
export interface ServiceLog {
  readonly log: Log;
  /** Opens the audit stream's file anew, for whoever has rotated it; does nothing without one. */
  readonly reopen: () => void;
  /** Writes what waits. To be called last, when nothing is served any more. */
  close(): Promise<void>;
}

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
): ServiceLog {
  const written = createPinoLog(logLevel, process.stderr);
  const common = worker === undefined ? {} : { worker };
  const plain: Log = (level, event, fields) => written(level, event, { ...fields, ...common });
  const stream = openAuditStream(audit.file, {
    common,
    log: metrics?.countDivertedAuditLines(plain) ?? plain,
  });
  const lines = stream?.log ?? plain;
  const { log, close } = boundLog(metrics?.countAuditLines(lines) ?? lines, systemSchedule);
  return {
    log: metrics?.countEvents(log) ?? log,
    reopen: () => stream?.reopen(),
    async close() {
      close();
      await stream?.close();
    },
  };
}

/**
 * Opens the log of the process that starts workers. It answers no requests, so that nothing in it is bounded.
 *
 * @throws {SallyportError} `SP_AUDIT_UNUSABLE` as {@link openServiceLog}.
 */
export function openPrimaryLog({ logLevel, audit }: Config['observe']): ServiceLog {
  const plain = createLineLog(logLevel, Date.now, (line) => process.stderr.write(line));
  const stream = openAuditStream(audit.file, { log: plain });
  return {
    log: stream?.log ?? plain,
    reopen: () => stream?.reopen(),
    close: async () => stream?.close(),
  };
}

function openAuditStream(
  path: string,
  options: Pick<AuditLogOptions, 'common' | 'log'>,
): AuditLog | undefined {
  return path === ''
    ? undefined
    : openAuditLog({ ...options, path, now: Date.now, schedule: systemSchedule });
}

/**
 * The audit stream as the configuration has it.
 *
 * @module
 */

import { type AuditLog, type AuditLogOptions, openAuditLog } from '@sallyport/server/observe';
import { systemSchedule } from '../process/system-schedule.ts';

/**
 * Opens the file of the stream.
 *
 * @param path - Empty where audit lines go to the log: then there is no stream of its own.
 *
 * @throws {SallyportError} `SP_AUDIT_UNUSABLE` when it cannot be opened.
 */
export function openAuditStream(
  path: string,
  options: Pick<AuditLogOptions, 'common' | 'log'>,
): AuditLog | undefined {
  return path === ''
    ? undefined
    : openAuditLog({ ...options, path, now: Date.now, schedule: systemSchedule });
}

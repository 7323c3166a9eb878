/**
 * The log of the process that starts workers, without the library of the service's own.
 *
 * @module
 */

import type { Config } from '@sallyport/config';
import { openAuditStream } from './audit-stream.ts';
import { createLineLog } from './line-log.ts';
import type { ProcessLog } from './process-log.ts';

/**
 * Opens the log of the process that starts workers. It answers no requests, so that nothing in it is bounded.
 *
 * @throws {SallyportError} `SP_AUDIT_UNUSABLE` as {@link openProcessLog}.
 */
export function openPrimaryLog({ logLevel, audit }: Config['observe']): ProcessLog {
  const plain = createLineLog(logLevel, Date.now, (line) => process.stderr.write(line));
  const stream = openAuditStream(audit.file, { log: plain });
  return {
    log: stream?.log ?? plain,
    auditFile: stream,
    reopen: () => stream?.reopen(),
    close: async () => stream?.close(),
  };
}

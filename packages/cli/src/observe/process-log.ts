/**
 * A log for as long as a process lives.
 *
 * @module
 */

import type { Log } from '@sallyport/server/observe';

/** What a process writes to, and what it does with it besides. */
export interface ProcessLog {
  readonly log: Log;
  /** The audit stream's file, to be asked what waits; absent where it has none. */
  readonly auditFile: { readonly waiting: number } | undefined;
  /** Reopens the audit stream's file after a rotation; does nothing without one. */
  readonly reopen: () => void;
  /** Writes what waits. To be called last, when nothing is served any more. */
  close(): Promise<void>;
}

/**
 * The state folder of a plane, which is for one plane at a time.
 *
 * @module
 */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '@sallyport/config/files';
import { SallyportError } from '@sallyport/protocol';
import { whyNotWritable } from '../admin/local-store-folder.ts';

const LOCK_FILE = 'up.lock';
/** SQLite's result code for a database that another connection has locked: https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

/**
 * Makes the folder, for its owner only, if it is not there, and takes it for this process. The lock is the operating
 * system's, through an exclusive transaction that is never ended: it goes with the process, however that ends.
 * Files that stand in the folder already are not looked at.
 *
 * @returns How to give it back.
 * @throws {SallyportError} `SP_STATE_UNUSABLE` when this user cannot make or write it; `SP_STATE_IN_USE` when
 *   another process has it.
 */
export function openStateFolder(folder: string): () => void {
  // Asked first: of a folder that is there, SQLite does not say why it cannot be written.
  const reason = whyNotWritable(folder);
  if (reason !== undefined) throw unusable(folder, reason);
  let database: DatabaseSync;
  try {
    makeFolder(folder, 0o700);
    database = new DatabaseSync(join(folder, LOCK_FILE));
  } catch (cause) {
    throw unusable(folder, reasonOf(cause), cause);
  }
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw resultCodeOf(cause) === SQLITE_BUSY
      ? inUse(folder, cause)
      : unusable(folder, reasonOf(cause), cause);
  }
  return () => database.close();
}

function unusable(folder: string, reason: string, cause?: unknown): SallyportError {
  return new SallyportError('SP_STATE_UNUSABLE', {
    component: folder,
    detail: `this user cannot make or write the state folder (${reason}); start it in a folder of your own, or name another with --state`,
    cause,
  });
}

function inUse(folder: string, cause: unknown): SallyportError {
  return new SallyportError('SP_STATE_IN_USE', {
    component: folder,
    detail: 'another sallyport up has this state folder; stop it, or choose another with --state',
    cause,
  });
}

/** SQLite's result code; `undefined` when the failure is not SQLite's. */
function resultCodeOf(cause: unknown): number | undefined {
  return cause instanceof Error && 'errcode' in cause && typeof cause.errcode === 'number'
    ? cause.errcode
    : undefined;
}

function reasonOf(cause: unknown): string {
  const resultCode = resultCodeOf(cause);
  if (resultCode !== undefined) return `${LOCK_FILE}: SQLite error ${resultCode}`;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
}

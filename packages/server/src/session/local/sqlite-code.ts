/**
 * Classifies errors of SQLite. Imports nothing, because the maintenance thread loads it.
 *
 * @module
 */

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_FULL = 13;

/** Whether another connection held the lock; a retry may succeed. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
}

/** Whether the file has its largest size. */
export function isFull(error: unknown): boolean {
  return resultCode(error) === SQLITE_FULL;
}

/** The primary result code: extended codes carry theirs in the upper bits. */
function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return Number(error.errcode) & 0xff;
}

/**
 * Folders that are made where they are missing.
 *
 * @module
 */

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those that it lies in, as far as they are missing.
 *
 * Not by the `recursive` of Node: that tries for ever where the system says that a folder which is there does not
 * exist, as in `/proc`.
 *
 * @param path - Absolute.
 * @param mode - Permissions of each folder that is made, before the umask; the system's default when absent.
 * @throws What the system says, with `code` (`EACCES`, `EROFS`, `ENOTDIR`, `EEXIST` where a file has the name).
 */
export function makeFolder(path: string, mode?: number): void {
  try {
    makeOne(path, mode);
  } catch (error) {
    const parent = dirname(path);
    const isParentMissing =
      error instanceof Error && 'code' in error && error.code === 'ENOENT' && !existsSync(parent);
    if (!isParentMissing || parent === path) throw error;
    makeFolder(parent, mode);
    makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Also where the system refuses to make anything: on a read-only file system, or above a mount.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/**
 * Whether others could put a folder of theirs in the place of one of ours.
 *
 * @module
 */

import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

const WRITABLE_BY_OTHERS = 0o002;
const STICKY = 0o1000;

/**
 * Finds what of a path others may write to: the folder itself, the one it lies in, or one further up
 * where they could move what is below away. Such a one with the sticky bit, like `/tmp`, keeps what
 * already lies in it from them.
 *
 * What is not there is not looked at, and neither are groups.
 *
 * @param folder - Absolute, and without `..`.
 * @returns The folder found, or nothing.
 */
export function findOpenFolder(folder: string): string | undefined {
  let hasChild = false;
  for (let path = folder; ; path = dirname(path)) {
    const stats = look(path);
    if (stats !== undefined) {
      const isNear = path === folder || path === dirname(folder);
      const keepsChild = hasChild && !isNear && (stats.mode & STICKY) !== 0;
      if ((stats.mode & WRITABLE_BY_OTHERS) !== 0 && !keepsChild) return path;
      hasChild = true;
    }
    if (path === dirname(path)) return undefined;
  }
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Whether a file is still the one that was read.
 *
 * @module
 */

import { statSync } from 'node:fs';

/**
 * Names the present content of a file by what the file system says of it; follows symbolic links, and so notices
 * when a mounted volume exchanges one. Does not read the file.
 *
 * Inode, size and both times together change with every exchange and every write, also with one that keeps size and
 * modification time.
 *
 * @returns `undefined` when there is no such file.
 * @throws What else the file system says.
 */
export function readFileVersion(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const { dev, ino, size, mtimeNs, ctimeNs } = stat;
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

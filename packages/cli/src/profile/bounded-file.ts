/**
 * Reading a file that somebody else may have put there.
 *
 * @module
 */

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
} from 'node:fs';
import { accept, type Result, refuse } from '@sallyport/protocol';

/** What a file has to be to be read. It always has to be a regular one. */
export interface FileTerms {
  readonly maxBytes: number;
  /** Whether a symbolic link in its place is followed. Those on the way to it always are. */
  readonly mayBeLink: boolean;
  /** Whose it has to be. Not looked at on Windows, whose files have access lists instead. */
  readonly owner: 'anybody' | 'this_user' | 'this_user_or_root';
}

/** Why a file is not read. */
export interface FileRefusal {
  readonly reason: 'absent' | 'unreadable' | 'link' | 'not_regular' | 'foreign' | 'too_large';
  /** Completes "found …". Holds neither path nor text of the file. */
  readonly found: string;
}

/**
 * Reads a file as UTF-8, without being led elsewhere by a link, held up by a named pipe, or fed
 * without end by a device. The open file is judged, not its name, which could lead to another one by
 * then.
 *
 * @param path - Untrusted.
 */
export function readBoundedFile(path: string, terms: FileTerms): Result<string, FileRefusal> {
  // Windows knows neither of the latter two: there they add nothing.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let descriptor: number;
  try {
    if (!terms.mayBeLink && lstatSync(path).isSymbolicLink()) return refuse(LINK);
    descriptor = openSync(path, O_RDONLY | O_NONBLOCK | (terms.mayBeLink ? 0 : O_NOFOLLOW));
  } catch (error) {
    return refuse(toRefusal(error));
  }
  try {
    const refusal = judge(fstatSync(descriptor), terms);
    return refusal === undefined ? readUpTo(descriptor, terms.maxBytes) : refuse(refusal);
  } catch (error) {
    return refuse(toRefusal(error));
  } finally {
    closeSync(descriptor);
  }
}

const LINK: FileRefusal = { reason: 'link', found: 'a symbolic link' };

function judge(stat: Stats, { maxBytes, owner }: FileTerms): FileRefusal | undefined {
  if (!stat.isFile()) return { reason: 'not_regular', found: 'no regular file' };
  const user = process.getuid?.();
  const isOwn = stat.uid === user || (owner === 'this_user_or_root' && stat.uid === 0);
  if (user !== undefined && owner !== 'anybody' && !isOwn)
    return { reason: 'foreign', found: `a file of another user (uid ${stat.uid})` };
  return stat.size > maxBytes ? tooLarge(maxBytes) : undefined;
}

/** Reads itself instead of believing the size: a file can grow, and those of `/proc` have none. */
function readUpTo(descriptor: number, maxBytes: number): Result<string, FileRefusal> {
  const buffer = Buffer.allocUnsafe(maxBytes + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length <= maxBytes; length += read)
    read = readSync(descriptor, buffer, length, buffer.length - length, null);
  return length > maxBytes
    ? refuse(tooLarge(maxBytes))
    : accept(buffer.toString('utf8', 0, length));
}

function tooLarge(maxBytes: number): FileRefusal {
  return { reason: 'too_large', found: `more than ${maxBytes} bytes` };
}

function toRefusal(error: unknown): FileRefusal {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { reason: 'absent', found: 'no such file' };
    case 'ELOOP':
    case 'EMLINK':
      return LINK;
    case 'EISDIR':
    case 'ENXIO':
      return { reason: 'not_regular', found: 'no regular file' };
    default:
      return { reason: 'unreadable', found: `a file that cannot be read (${code})` };
  }
}

/**
 * Reading a file that another program or user may have put there.
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
  readonly owner: 'any_user' | 'this_user' | 'this_user_or_root';
  /** What its mode may allow neither group nor others. Absent: anything goes. Not looked at on Windows either. */
  readonly closedTo?: 'reading_and_writing' | 'writing';
}

/** Why a file is not read. */
export interface FileRefusal {
  readonly reason:
    | 'absent'
    | 'unreadable'
    | 'link'
    | 'not_regular'
    | 'foreign'
    | 'open'
    | 'too_large';
  /** Completes "found …". Holds neither path nor text of the file. */
  readonly found: string;
  /** Of a file that was opened. */
  readonly stat?: Pick<Stats, 'uid' | 'mode' | 'size'>;
  /** What the operating system said. */
  readonly code?: string;
}

/**
 * Reads a file as UTF-8. Bytes that are none become U+FFFD.
 *
 * @param path - As of {@link readBoundedBytes}.
 */
export function readBoundedFile(path: string, terms: FileTerms): Result<string, FileRefusal> {
  const read = readBoundedBytes(path, terms);
  return read.ok ? accept(read.value.toString('utf8')) : read;
}

/**
 * Reads a file, without being led elsewhere by a link, held up by a named pipe, or fed without end by a
 * device. Judges the open file and not its name, which could lead to another one by then.
 *
 * @param path - Untrusted.
 */
export function readBoundedBytes(path: string, terms: FileTerms): Result<Buffer, FileRefusal> {
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

/** Mode bits of group and others. */
const FORBIDDEN = { reading_and_writing: 0o077, writing: 0o022 } as const;

function judge(stat: Stats, { maxBytes, owner, closedTo }: FileTerms): FileRefusal | undefined {
  if (!stat.isFile()) return { reason: 'not_regular', found: 'no regular file' };
  const user = process.getuid?.();
  const isOwn = stat.uid === user || (owner === 'this_user_or_root' && stat.uid === 0);
  if (user !== undefined && owner !== 'any_user' && !isOwn)
    return { reason: 'foreign', found: `a file of another user (uid ${stat.uid})`, stat };
  if (user !== undefined && closedTo !== undefined && (stat.mode & FORBIDDEN[closedTo]) !== 0)
    return {
      reason: 'open',
      found: `a file that is open to other users (mode ${(stat.mode & 0o777).toString(8)})`,
      stat,
    };
  return stat.size > maxBytes ? { ...tooLarge(maxBytes), stat } : undefined;
}

/** Reads itself instead of believing the size: a file can grow, and those of `/proc` have none. */
function readUpTo(descriptor: number, maxBytes: number): Result<Buffer, FileRefusal> {
  const buffer = Buffer.allocUnsafe(maxBytes + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length <= maxBytes; length += read)
    read = readSync(descriptor, buffer, length, buffer.length - length, null);
  return length > maxBytes ? refuse(tooLarge(maxBytes)) : accept(buffer.subarray(0, length));
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
      return { reason: 'unreadable', found: `a file that cannot be read (${code})`, code };
  }
}

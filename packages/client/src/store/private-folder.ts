/**
 * A folder that is closed to other users, and files that are written there whole.
 *
 * @module
 */

import { closeSync, constants, fsyncSync, lstatSync, openSync, rmSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import {
  type FileTerms,
  makeFolder,
  readBoundedFile,
  writeWholeFile,
} from '@sallyport/config/files';
import { SallyportError } from '@sallyport/protocol';

/** A larger file is not one of this client. */
const TERMS: FileTerms = {
  maxBytes: 1_048_576,
  mayBeLink: false,
  owner: 'this_user',
  closedTo: 'reading_and_writing',
};
/** Windows has access lists instead of modes and owners; the profile folder's apply there. */
const HAS_OWNERS: boolean = process.getuid !== undefined;

/**
 * Makes the folder, mode 0700, or checks the one that is there.
 *
 * @throws {SallyportError} As {@link hasPrivateFolder}.
 */
export function openPrivateFolder(folder: string): void {
  attempt(folder, () => makeFolder(folder, 0o700));
  hasPrivateFolder(folder);
}

/**
 * Whether the folder is there and closed to other users.
 *
 * Checks the folder itself and none above it.
 *
 * @throws {SallyportError} `SP_TOKEN_STORE_UNUSABLE`, with the command that mends it, when it is a
 *   symbolic link, no folder, another user's, or open to group or others.
 */
export function hasPrivateFolder(folder: string): boolean {
  const stat = attempt(folder, () => lstatSync(folder, { throwIfNoEntry: false }));
  if (stat === undefined) return false;
  if (stat.isSymbolicLink())
    throw unusable(`${folder} is a symbolic link; name the folder it leads to instead`);
  if (!stat.isDirectory()) throw unusable(`${folder} is no folder; move it away`);
  assertPrivate(folder, stat, '700');
  return true;
}

/**
 * Reads a file that only this user can have written and read.
 *
 * @returns The text; `undefined` when there is no such file.
 * @throws {SallyportError} `SP_TOKEN_STORE_UNUSABLE`, with the command that mends it, when it is a
 *   symbolic link, no regular file, another user's, or open to group or others.
 */
export function readPrivateFile(path: string): string | undefined {
  const read = readBoundedFile(path, TERMS);
  if (read.ok) return read.value;
  const { reason, found, stat } = read.error;
  switch (reason) {
    case 'absent':
      return undefined;
    case 'link':
      throw unusable(`${path} is a symbolic link; remove it and sign in again`);
    case 'too_large':
      throw unusable(`${path} has more than ${TERMS.maxBytes} bytes; remove it`);
    case 'not_regular':
      throw unusable(`${path} is no regular file; move it away`);
    case 'foreign':
    case 'open':
    case 'unreadable':
      if (stat !== undefined) assertPrivate(path, stat, '600');
      throw unusable(`${path} is ${found}`);
  }
}

/**
 * Writes a file, mode 0600, completely or not at all, and through to the disk.
 *
 * What was at the path is replaced, a symbolic link itself and not what it leads to.
 *
 * @throws {SallyportError} `SP_TOKEN_STORE_UNUSABLE`: a full or read-only disk, or missing rights.
 */
export function writePrivateFile(path: string, text: string): void {
  try {
    writeWholeFile(path, text, { mode: 0o600, isFlushed: true });
  } catch (error) {
    throw unusable(`${path} cannot be written (${codeOf(error)})`, error);
  }
  syncFolder(dirname(path));
}

/** Removes a file; that there is none does no harm. */
export function removePrivateFile(path: string): void {
  attempt(path, () => rmSync(path, { force: true }));
}

function assertPrivate(path: string, stat: Pick<Stats, 'uid' | 'mode'>, mode: '600' | '700'): void {
  if (!HAS_OWNERS) return;
  if (stat.uid !== process.getuid?.())
    throw unusable(`${path} belongs to another user (uid ${stat.uid}); move it away`);
  if ((stat.mode & 0o077) !== 0)
    throw unusable(
      `${path} is open to other users (mode ${(stat.mode & 0o777).toString(8)}): chmod ${mode} '${path}'; if others may have read it, sign out and in again`,
    );
}

/** Makes the new name last through a power cut; not every platform lets a folder be opened. */
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, constants.O_RDONLY);
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // The file itself is whole and in place; only its survival of a power cut is not certain.
  }
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unusable(`${path} cannot be used (${codeOf(error)})`, error);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

function unusable(detail: string, cause?: unknown): SallyportError {
  return new SallyportError('SP_TOKEN_STORE_UNUSABLE', {
    component: 'token-store:file',
    detail,
    cause,
  });
}

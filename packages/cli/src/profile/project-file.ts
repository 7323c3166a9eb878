/**
 * Finding the file of the project that a command runs in.
 *
 * @module
 */

import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import { accept, type Result, refuse, withoutUnprintable } from '@sallyport/protocol';
import type { TextFile } from './profile-file.ts';

/** Name of the file in a project that picks a profile. */
const PROJECT_FILE = '.sallyport.yaml';
const TERMS: FileTerms = { maxBytes: 65_536, mayBeLink: false, owner: 'this_user_or_root' };

/**
 * Finds and reads the project's file: the nearest in the working folder and those above it, up to the
 * root of the repository that contains it or the person's home, and never above. Outside of both only
 * the working folder counts.
 *
 * A file of another user, or of a repository that was cloned, must not lead a command to another file, block it,
 * fill its memory or act for this user (CVE-2022-24765 is the same attack on a version control system). So the
 * file has to be a regular one of at most 64 KiB that belongs to this user or root. Its mode is not looked at, because shared checkouts are group-writable and some file systems
 * have no modes.
 *
 * @param from - The working folder.
 *
 * @returns The file, `undefined` when there is none; otherwise a printable sentence. A file that is
 *   there and does not qualify is no reason to look further up.
 */
export function findProjectFile(
  from: string,
  home: string = homedir(),
): Result<TextFile | undefined, string> {
  for (const folder of listFolders(resolve(from), home)) {
    const path = join(folder, PROJECT_FILE);
    if (!isThere(path)) continue;
    const read = readBoundedFile(path, TERMS);
    const shown = withoutUnprintable(path);
    if (read.ok) return accept({ path: shown, text: read.value });
    return refuse(
      `${shown}: found ${read.error.found}, expected a regular file of at most ${TERMS.maxBytes} bytes that is yours or root's; with --profile or SALLYPORT_PROFILE it is not read`,
    );
  }
  return accept(undefined);
}

/** The folders to look in, from the innermost. */
function listFolders(from: string, home: string): readonly string[] {
  const homes = [home, realPath(home)];
  const folders: string[] = [];
  for (let folder = from; ; folder = dirname(folder)) {
    folders.push(folder);
    if (homes.includes(folder) || existsSync(join(folder, '.git'))) return folders;
    if (folder === dirname(folder)) return [from];
  }
}

/** Whether anything has this name; a folder that may not be looked into has nothing. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

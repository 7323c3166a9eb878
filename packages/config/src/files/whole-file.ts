/**
 * Writing a file so that its readers see the old content or the new one, and nothing between.
 *
 * Two places do the same by themselves, on purpose: the development IdP, which imports protocol only, and the Unix
 * socket of the command, which is bound and not written.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';

/** How a file is written. */
export interface WholeFileOptions {
  /** Permissions of the file; absent leaves them to the umask. */
  readonly mode?: number;
  /** Whether its content is on the disk before it gets its name, so that a power cut leaves no empty file. */
  readonly isFlushed?: boolean;
  /** Whether the path has to be free: what is there stays, and the write fails with `EEXIST`. */
  readonly isNew?: boolean;
}

/**
 * Writes a file next to its place and renames it. The folder has to be there.
 *
 * What is at the path is replaced, unless the file has to be new: a symbolic link itself, not what it leads to. Does not keep another writer out.
 *
 * @throws What the file system says; nothing is left behind then.
 */
export function writeWholeFile(
  path: string,
  content: string,
  options: WholeFileOptions = {},
): void {
  const draft = draftOf(path);
  try {
    writeFileSync(draft, content, draftOptions(options));
    if (options.isNew === true) place(draft, path);
    else renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Does as {@link writeWholeFile}, off the thread: for a process that answers requests meanwhile. */
export async function writeWholeFileInBackground(
  path: string,
  content: string,
  options: WholeFileOptions = {},
): Promise<void> {
  const draft = draftOf(path);
  try {
    await writeFile(draft, content, draftOptions(options));
    if (options.isNew === true) place(draft, path);
    else await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Gives a draft a name that has to be free; a link, unlike a rename, replaces nothing. */
function place(draft: string, path: string): void {
  linkSync(draft, path);
  rmSync(draft);
}

/** A name that no other process chooses; what a killed process leaves ends in `.draft`. */
function draftOf(path: string): string {
  return `${path}.${randomBytes(8).toString('hex')}.draft`;
}

function draftOptions({ mode, isFlushed = false }: WholeFileOptions) {
  return { flag: 'wx', flush: isFlushed, ...(mode === undefined ? {} : { mode }) };
}

/**
 * Files and folders that one run makes, and that are removed again when the run fails.
 *
 * @module
 */

import {
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '@sallyport/config/files';

/** What was made so far. */
export interface NewFiles {
  /** Makes a folder, and those above it that are missing. One that is there already stays as it is. */
  addFolder(path: string, mode?: number): void;
  /** Makes a file in a folder that is there. Throws `EEXIST` where anything has the name, a link too. */
  addFile(path: string, content: string, mode?: number): void;
  /**
   * Removes what was made. What another program has put in the place of a file stays, and so does a folder that something else is
   * in. Never throws: what cannot be removed stays.
   */
  remove(): void;
}

interface MadeFile {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
}

/** Starts with nothing. */
export function createNewFiles(): NewFiles {
  const folders: string[] = [];
  const files: MadeFile[] = [];
  return {
    addFolder(path, mode) {
      const missing: string[] = [];
      for (let at = path; !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.push(at);
      // Noted first: of several folders some may be made before one fails.
      folders.push(...missing.toReversed());
      makeFolder(path, mode);
    },
    addFile(path, content, mode) {
      const descriptor = openSync(path, 'wx', mode);
      try {
        const { dev, ino } = fstatSync(descriptor);
        files.push({ path, dev, ino });
        writeFileSync(descriptor, content);
      } finally {
        closeSync(descriptor);
      }
    },
    remove() {
      for (const file of files.splice(0).toReversed()) attempt(() => removeFile(file));
      for (const folder of folders.splice(0).toReversed()) attempt(() => rmdirSync(folder));
    },
  };
}

function removeFile({ path, dev, ino }: MadeFile): void {
  const found = lstatSync(path);
  if (found.dev === dev && found.ino === ino) unlinkSync(path);
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // It stays.
  }
}

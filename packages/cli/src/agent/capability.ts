/**
 * The secret that a program on this machine shows on the loopback port.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type FileTerms,
  findOpenFolder,
  readBoundedFile,
  writeWholeFile,
} from '@sallyport/config/files';
import { SallyportError } from '@sallyport/protocol';
import { CAPABILITY_HEADER } from './request-guard.ts';

/** One capability, and the file that programs read it from. */
export interface Capability {
  readonly value: string;
  /** Removes the file, unless another one has its place. */
  remove(): void;
}

const BYTES = 32;
const LEFT_TERMS: FileTerms = {
  maxBytes: 1_024,
  mayBeLink: false,
  owner: 'this_user',
  closedTo: 'reading_and_writing',
};
const OWN_CONTENT = new RegExp(`^${CAPABILITY_HEADER}: [\\w-]{43}\n$`);

/**
 * Draws a capability and writes it as a whole header line, mode 0600, so that `curl -H @FILE` sends it. It is another
 * one at each start.
 *
 * @param path - Absolute.
 * @throws {SallyportError} `SP_STATE_UNUSABLE` when the file cannot be written, something else than a capability
 *   of this user lies there, or others may write to its folder.
 */
export function writeCapability(path: string): Capability {
  const value = randomBytes(BYTES).toString('base64url');
  const line = `${CAPABILITY_HEADER}: ${value}\n`;
  try {
    const open = findOpenFolder(join(realpathSync(dirname(path)), '.sallyport'));
    if (open !== undefined)
      throw unusable(path, `others may write to ${open}; choose a folder of this user's own`);
    removeLeft(path);
    writeWholeFile(path, line, { mode: 0o600, isNew: true });
    return {
      value,
      remove() {
        // Not by the inode: its number is given again.
        const last = readBoundedFile(path, LEFT_TERMS);
        if (last.ok && last.value === line) rmSync(path, { force: true });
      },
    };
  } catch (cause) {
    if (cause instanceof SallyportError) throw cause;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    throw unusable(path, `it cannot be written (${code})`, cause);
  }
}

/** Removes the capability that a killed agent left, and nothing else. */
function removeLeft(path: string): void {
  const read = readBoundedFile(path, LEFT_TERMS);
  if (!read.ok && read.error.reason === 'absent') return;
  if (read.ok && OWN_CONTENT.test(read.value)) {
    rmSync(path, { force: true });
    return;
  }
  const found = read.ok ? 'something else than a capability' : read.error.found;
  throw unusable(path, `found ${found}; it is left alone, choose another path`);
}

function unusable(path: string, detail: string, cause?: unknown): SallyportError {
  return new SallyportError('SP_STATE_UNUSABLE', {
    component: path,
    detail: `--capability-file: ${detail}`,
    cause,
  });
}

/**
 * The secret that a program on this machine shows on the loopback port.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { lstatSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findOpenFolder, writeWholeFile } from '@sallyport/config/files';
import { SallyportError } from '@sallyport/protocol';
import { CAPABILITY_HEADER } from './request-guard.ts';

/** One capability, and the file that programs read it from. */
export interface Capability {
  readonly value: string;
  /** Removes the file, unless another one has its place. */
  remove(): void;
}

const BYTES = 32;

/**
 * Draws a capability and writes it as a whole header line, mode 0600, so that `curl -H @FILE` sends it. It is another
 * one at each start.
 *
 * @param path - Absolute.
 * @throws {SallyportError} `SP_STATE_UNUSABLE` when the file cannot be written, something else than a regular file
 *   lies there, or others may write to its folder.
 */
export function writeCapability(path: string): Capability {
  const value = randomBytes(BYTES).toString('base64url');
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile())
      throw unusable(path, 'something else than a regular file has this name; it is left alone');
    const open = findOpenFolder(join(realpathSync(dirname(path)), '.sallyport'));
    if (open !== undefined)
      throw unusable(path, `others may write to ${open}; choose a folder of this user's own`);
    writeWholeFile(path, `${CAPABILITY_HEADER}: ${value}\n`, { mode: 0o600 });
    const written = lstatSync(path);
    return {
      value,
      remove() {
        const last = lstatSync(path, { throwIfNoEntry: false });
        if (last?.ino === written.ino && last.dev === written.dev) rmSync(path, { force: true });
      },
    };
  } catch (cause) {
    if (cause instanceof SallyportError) throw cause;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    throw unusable(path, `it cannot be written (${code})`, cause);
  }
}

function unusable(path: string, detail: string, cause?: unknown): SallyportError {
  return new SallyportError('SP_STATE_UNUSABLE', {
    component: path,
    detail: `--capability-file: ${detail}`,
    cause,
  });
}

/**
 * The key ring as a file: made at first use, read by every process, rotated by adding a key.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder, readFileVersion, writeWholeFile } from '@sallyport/config/files';
import { SallyportError } from '@sallyport/protocol';
import type { KeyRingSource } from './key-ring.ts';
import { addRingKey, createRing, parseRing } from './key-ring-document.ts';

/**
 * Opens the ring in a file, and makes the file with one key when there is none.
 *
 * Of several processes that start at once exactly one creates the file; the others read it. The file
 * is written to a temporary file and linked into place, mode 0600, so that readers never see a partial ring.
 *
 * @param path - The ring file; its folder is created with mode 0700.
 */
export function createKeyRingFile(path: string, now: () => number): KeyRingSource {
  return {
    read() {
      try {
        const version = readFileVersion(path) ?? create(path, now());
        return { version, keys: parseRing(readFileSync(path, 'utf8')) };
      } catch (error) {
        throw unusableKeyRing(path, error);
      }
    },
    version: () => readFileVersion(path) ?? '',
  };
}

/**
 * Adds a key that will seal from ten minutes on, and gives the older ones an end.
 *
 * @param path - An existing ring file.
 * @param longestSealedMs - How long anything sealed by an older key may have to be opened: the absolute session lifetime.
 *
 * @returns The new key's id.
 * @throws {SallyportError} `SP_KEY_RING_UNUSABLE` when the file is missing, cannot be read, parsed or written, or is
 *   full: a ring that cannot be read would end all sessions.
 */
export function rotateKeyRingFile(path: string, now: number, longestSealedMs: number): string {
  if (!existsSync(path))
    throw unusable(
      `there is no key ring ${path}; the server makes it at the first sign-in, or it has another state directory`,
    );
  try {
    return addKey(path, now, longestSealedMs);
  } catch (error) {
    throw unusableKeyRing(path, error);
  }
}

/** `SP_KEY_RING_UNUSABLE` for a file and what was thrown: the system's code, or the parser's own words, which never show content. */
export function unusableKeyRing(path: string, problem: unknown): SallyportError {
  return unusable(`${path} cannot be used: ${describeProblem(problem)}`, problem);
}

function describeProblem(problem: unknown): string {
  if (!(problem instanceof Error)) return 'unreadable';
  return 'code' in problem ? String(problem.code) : problem.message;
}

function unusable(detail: string, cause?: unknown): SallyportError {
  return new SallyportError('SP_KEY_RING_UNUSABLE', { component: 'key-ring', detail, cause });
}

function addKey(path: string, now: number, longestSealedMs: number): string {
  const { text, kid } = addRingKey(readFileSync(path, 'utf8'), now, longestSealedMs);
  writeWholeFile(path, text, { mode: 0o600, isFlushed: true });
  return kid;
}

function create(path: string, now: number): string {
  makeFolder(dirname(path), 0o700);
  // Linked and not renamed: of several processes that start at once the first one's ring stays.
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    writeFileSync(draft, createRing(now), { mode: 0o600, flag: 'wx', flush: true });
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error) || error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileVersion(path) ?? '';
}

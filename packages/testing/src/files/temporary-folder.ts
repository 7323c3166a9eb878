/**
 * A folder that is gone when the test is over.
 *
 * @module
 */

import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeMemoryFolder } from './memory-folder.ts';

/** File system in memory (Linux): what is written durably there waits for no disk. */
const MEMORY = '/dev/shm';
/** Containers have as little as 64 MiB; none of these folders holds as much. */
const LEAST_BYTES = 48 * 2 ** 20;

/** Makes an empty folder for the running test, in memory where the system has such a file system. */
export function createTemporaryFolder(): string {
  const folder = hasMemory() ? makeMemoryFolder(MEMORY) : mkdtempSync(join(tmpdir(), 'sallyport-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function hasMemory(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= LEAST_BYTES;
}

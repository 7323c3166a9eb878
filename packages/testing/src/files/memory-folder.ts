/**
 * Folders of tests on a file system in memory, and what processes that were killed left of them.
 *
 * @module
 */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The process that made it, and what `mkdtemp` puts behind that. */
const NAME = /^sallyport-(\d+)-[A-Za-z0-9]{6}$/;

/** Makes an empty folder that {@link removeLeftFolders} removes once this process is gone. */
export function makeMemoryFolder(parent: string): string {
  return mkdtempSync(join(parent, `sallyport-${process.pid}-`));
}

/**
 * Removes the folders of processes that run no more: those of a killed test run take memory until the machine is
 * started again. Folders of living processes stay, and everything with another name; what this user may not remove
 * stays too.
 *
 * @returns The paths of the removed ones.
 */
export function removeLeftFolders(parent: string): readonly string[] {
  return namesIn(parent)
    .filter((name) => {
      const [, pid] = NAME.exec(name) ?? [];
      return pid !== undefined && !isRunning(Number(pid));
    })
    .map((name) => join(parent, name))
    .filter(isRemoved);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    // Of another user: it runs.
    return !(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH');
  }
}

function isRemoved(path: string): boolean {
  try {
    rmSync(path, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

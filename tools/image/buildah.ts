/**
 * buildah without a daemon, a registry or a user namespace: everything that it keeps is in one folder.
 *
 * @module
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Images under construction. */
export interface Storage {
  /** Runs a command of buildah. @returns What it writes to stdout. */
  run(command: string, ...args: readonly string[]): string;
  remove(): void;
}

/** Opens an empty storage in a new folder below `parent`. */
export function openStorage(parent: string): Storage {
  const folder = mkdtempSync(join(parent, 'storage-'));
  const places = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run')];
  return {
    run: (command, ...args) =>
      execFileSync('buildah', [...places, '--storage-driver', 'vfs', command, ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, TMPDIR: folder },
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

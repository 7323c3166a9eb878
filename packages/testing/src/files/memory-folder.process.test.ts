import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeMemoryFolder, removeLeftFolders } from './memory-folder.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

/** The id of a process that has ended. */
function endedPid(): number {
  return spawnSync(process.execPath, ['--version']).pid;
}

describe('Folders in memory', () => {
  it('of a process that has ended are removed with what is in them', () => {
    const parent = createTemporaryFolder();
    const left = join(parent, `sallyport-${endedPid()}-aB3xYz`);
    mkdirSync(left);
    writeFileSync(join(left, 'sessions.sqlite'), 'x');
    expect(removeLeftFolders(parent)).toEqual([left]);
    expect(existsSync(left)).toBe(false);
  });

  it('of a process that runs stay, and so does every other name', () => {
    const parent = createTemporaryFolder();
    const own = makeMemoryFolder(parent);
    const pid = endedPid();
    const others = [`sallyport-${pid}`, `sallyport-${pid}-aB3xYz-1`, `other-${pid}-aB3xYz`].map(
      (name) => join(parent, name),
    );
    for (const path of others) mkdirSync(path);
    expect(removeLeftFolders(parent)).toEqual([]);
    expect([own, ...others].filter((path) => !existsSync(path))).toEqual([]);
  });

  it('are none where the system has no such file system', () => {
    expect(removeLeftFolders('/nowhere/at/all')).toEqual([]);
  });
});

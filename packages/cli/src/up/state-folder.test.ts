import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openStateFolder } from './state-folder.ts';

function parentFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'state-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('a state folder is for one plane at a time, and the second is reported', () => {
  const folder = parentFolder();
  const giveBack = openStateFolder(folder);
  onTestFinished(giveBack);
  expect(() => openStateFolder(folder)).toThrow(/SP_STATE_IN_USE.*--state/);
});

it('a folder that was given back can be taken again, and another one at any time', () => {
  const folder = parentFolder();
  openStateFolder(folder)();
  const giveBack = openStateFolder(folder);
  expect(() => openStateFolder(parentFolder())()).not.toThrow();
  giveBack();
});

it('a folder that is not there is made for its owner only', () => {
  const folder = join(parentFolder(), 'a', 'state');
  openStateFolder(folder)();
  expect((statSync(folder).mode & 0o777).toString(8)).toBe('700');
});

it.each(['file', 'file/state'])(
  'a folder that cannot be made is reported with the reason: %s',
  (path) => {
    const parent = parentFolder();
    writeFileSync(join(parent, 'file'), '');
    const folder = join(parent, path);
    expect(() => openStateFolder(folder)).toThrow(
      `SP_STATE_UNUSABLE (${folder}): this user cannot make or write the state folder (ENOTDIR); start it in a folder of your own, or name another with --state`,
    );
  },
);

it('a lock file that cannot be used is not reported as a second plane', () => {
  const folder = parentFolder();
  writeFileSync(join(folder, 'up.lock'), 'longer than the header of a database'.repeat(9));
  expect(() => openStateFolder(folder)).toThrow(/SP_STATE_UNUSABLE.*up\.lock: SQLite error 26/);
});

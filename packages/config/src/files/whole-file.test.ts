import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWholeFile, writeWholeFileInBackground } from './whole-file.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'whole-'));
  path = join(folder, 'file');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each([
  ['at once', async (...all: Parameters<typeof writeWholeFile>) => writeWholeFile(...all)],
  ['in the background', writeWholeFileInBackground],
])('A file that is written whole %s', (_, write) => {
  it('replaces what was there, with the mode that is asked for, and leaves no draft', async () => {
    writeFileSync(path, 'old', { mode: 0o644 });
    await write(path, 'new', { mode: 0o600, isFlushed: true });
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('leaves its mode to the umask where none is asked for', async () => {
    const before = process.umask();
    await write(path, 'text');
    expect(statSync(path).mode & 0o777).toBe(0o666 & ~before);
  });

  it('replaces a symbolic link itself, not what it leads to', async () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'kept');
    symlinkSync(other, path);
    await write(path, 'new');
    expect(lstatSync(path).isSymbolicLink()).toBe(false);
    expect(readFileSync(other, 'utf8')).toBe('kept');
  });

  it('that has to be new replaces nothing: no file, and no symbolic link that leads nowhere', async () => {
    const isNew = { isNew: true, mode: 0o600 };
    await write(path, 'first', isNew);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await expect(write(path, 'second', isNew)).rejects.toThrow('EEXIST');
    expect(readFileSync(path, 'utf8')).toBe('first');
    const link = join(folder, 'link');
    symlinkSync(join(folder, 'nowhere'), link);
    await expect(write(link, 'second', isNew)).rejects.toThrow('EEXIST');
    expect(readdirSync(folder).toSorted()).toEqual(['file', 'link']);
  });

  it('leaves the old content and no draft where it fails', async () => {
    mkdirSync(path);
    await expect(write(path, 'new')).rejects.toThrow();
    await expect(write(join(folder, 'missing', 'file'), 'new')).rejects.toThrow('ENOENT');
    expect(readdirSync(folder)).toEqual(['file']);
    expect(readdirSync(path)).toEqual([]);
  });
});

import {
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readFileVersion } from './file-version.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'version-'));
  path = join(folder, 'file');
  writeFileSync(path, 'one');
});
afterEach(() => rmSync(folder, { recursive: true }));

it('a file that nothing was done to keeps its version', () => {
  expect(readFileVersion(path)).toBe(readFileVersion(path));
});

it('a file that is written or replaced has another version, also with the same size and time', () => {
  const before = readFileVersion(path);
  utimesSync(path, 1, 1);
  const old = readFileVersion(path);
  writeFileSync(join(folder, 'next'), 'two');
  utimesSync(join(folder, 'next'), 1, 1);
  renameSync(join(folder, 'next'), path);
  expect(new Set([before, old, readFileVersion(path)]).size).toBe(3);
});

it('a link that leads to another file has another version', () => {
  const link = join(folder, 'link');
  writeFileSync(join(folder, 'other'), 'one');
  symlinkSync(path, link);
  const before = readFileVersion(link);
  unlinkSync(link);
  symlinkSync(join(folder, 'other'), link);
  expect(readFileVersion(link)).not.toBe(before);
});

it('a file that is not there has none', () => {
  expect(readFileVersion(join(folder, 'missing'))).toBeUndefined();
});

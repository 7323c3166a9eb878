import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it } from 'vitest';
import { createNewFiles } from './new-files.ts';

describe('Files of one run', () => {
  it('are removed with the folders that were made for them, and nothing above', () => {
    const place = createTemporaryFolder();
    const made = createNewFiles();
    made.addFolder(join(place, 'a/b/c'));
    made.addFile(join(place, 'a/b/c/one'), '1');
    made.addFile(join(place, 'a/two'), '2');
    expect(readFileSync(join(place, 'a/b/c/one'), 'utf8')).toBe('1');
    made.remove();
    expect([existsSync(join(place, 'a')), existsSync(place)]).toEqual([false, true]);
  });

  it('never replace or remove a file that was there before', () => {
    const place = createTemporaryFolder();
    const file = join(place, 'mine');
    writeFileSync(file, 'mine');
    const made = createNewFiles();
    expect(() => made.addFile(file, 'new')).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    made.addFolder(place);
    made.remove();
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  it('leave a folder in which there is something else by now', () => {
    const place = createTemporaryFolder();
    const made = createNewFiles();
    made.addFolder(join(place, 'a'));
    made.addFile(join(place, 'a/one'), '1');
    writeFileSync(join(place, 'a/other'), 'other');
    made.remove();
    expect(existsSync(join(place, 'a/one'))).toBe(false);
    expect(readFileSync(join(place, 'a/other'), 'utf8')).toBe('other');
  });

  it('leave what another program has put in the place of one', () => {
    const place = createTemporaryFolder();
    const made = createNewFiles();
    const file = join(place, 'one');
    made.addFile(file, '1');
    writeFileSync(join(place, 'draft'), 'other');
    renameSync(join(place, 'draft'), file);
    made.remove();
    expect(readFileSync(file, 'utf8')).toBe('other');
  });

  it('are removed as far as they are still there', () => {
    const place = createTemporaryFolder();
    const made = createNewFiles();
    made.addFile(join(place, 'one'), '1');
    made.addFile(join(place, 'two'), '2');
    rmSync(join(place, 'two'));
    made.remove();
    expect(existsSync(join(place, 'one'))).toBe(false);
  });

  it('are none where a folder could not be made: those above it go again', () => {
    const place = createTemporaryFolder();
    mkdirSync(join(place, 'a'));
    writeFileSync(join(place, 'a/file'), '');
    const made = createNewFiles();
    expect(() => made.addFolder(join(place, 'a/file/b'))).toThrow();
    made.remove();
    expect(existsSync(join(place, 'a/file'))).toBe(true);
  });
});

import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FileTerms, readBoundedFile } from './bounded-file.ts';

const TERMS: FileTerms = { maxBytes: 8, mayBeLink: false, owner: 'this_user' };
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bounded-'));
  path = join(folder, 'file');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function reasonOf(at: string, terms: Partial<FileTerms> = {}): string {
  const read = readBoundedFile(at, { ...TERMS, ...terms });
  return read.ok ? read.value : read.error.reason;
}

describe('A file that another user may have put there', () => {
  it.each([
    ['', ''],
    ['8 bytes.', '8 bytes.'],
    ['9 bytes..', 'too_large'],
    ['éééé', 'éééé'],
    ['ééééé', 'too_large'],
  ])('of the text %j is read within its limit of bytes: %s', (text, expected) => {
    writeFileSync(path, text);
    expect(reasonOf(path)).toBe(expected);
  });

  it('that is not there, in a file instead of a folder, or no regular file is refused', () => {
    expect(reasonOf(path)).toBe('absent');
    writeFileSync(path, '');
    expect(reasonOf(join(path, 'below'))).toBe('absent');
    expect(reasonOf(folder)).toBe('not_regular');
    expect(reasonOf('/dev/null', { owner: 'any_user' })).toBe('not_regular');
  });

  it('that is a named pipe is refused without waiting for a writer', () => {
    execFileSync('mkfifo', [path]);
    expect(reasonOf(path)).toBe('not_regular');
    symlinkSync(path, join(folder, 'link'));
    expect(reasonOf(join(folder, 'link'), { mayBeLink: true })).toBe('not_regular');
  });

  it('that is a link is followed only where it may be one', () => {
    writeFileSync(path, 'text');
    const link = join(folder, 'link');
    symlinkSync(path, link);
    expect(reasonOf(link)).toBe('link');
    expect(reasonOf(link, { mayBeLink: true })).toBe('text');
    symlinkSync('loop', join(folder, 'loop'));
    expect(reasonOf(join(folder, 'loop'), { mayBeLink: true })).toBe('link');
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), join(folder, 'way'));
    writeFileSync(join(folder, 'real/file'), 'below');
    expect(reasonOf(join(folder, 'way/file'))).toBe('below');
  });

  it.skipIf(process.platform !== 'linux')(
    'whose size is reported as nothing is bounded all the same',
    () => {
      const terms = { maxBytes: 4, owner: 'any_user' } as const;
      expect(reasonOf('/proc/self/status', terms)).toBe('too_large');
    },
  );

  it.skipIf(process.getuid?.() !== 0)(
    "of another user is refused, and root's where that is asked",
    () => {
      writeFileSync(path, 'text');
      expect(reasonOf(path, { owner: 'this_user_or_root' })).toBe('text');
      chownSync(path, 65_534, 65_534);
      expect(reasonOf(path)).toBe('foreign');
      expect(reasonOf(path, { owner: 'this_user_or_root' })).toBe('foreign');
      expect(reasonOf(path, { owner: 'any_user' })).toBe('text');
    },
  );
});

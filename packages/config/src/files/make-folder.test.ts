import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder } from './make-folder.ts';

describe('makeFolder', () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'sallyport-folder-'));
    chmodSync(root, 0o700);
  });
  afterAll(() => rmSync(root, { recursive: true }));

  it('makes what is missing of a path, each folder with the permissions asked for', () => {
    const path = join(root, 'a/b/c');
    makeFolder(path, 0o700);
    for (const made of [path, join(root, 'a/b'), join(root, 'a')])
      expect(statSync(made).mode & 0o777).toBe(0o700);
  });

  it('leaves a folder that is there as it is', () => {
    const path = join(root, 'there');
    makeFolder(path, 0o755);
    makeFolder(path, 0o700);
    expect(statSync(path).mode & 0o777).toBe(0o755);
    expect(() => makeFolder('/')).not.toThrow();
  });

  it('refuses a path on which a file stands', () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    expect(() => makeFolder(file)).toThrow(expect.objectContaining({ code: 'EEXIST' }));
    expect(() => makeFolder(join(file, 'below'))).toThrow(
      expect.objectContaining({ code: 'ENOTDIR' }),
    );
  });

  it.skipIf(!existsSync('/proc/self'))(
    'refuses at once where the system makes no folder, with what the system says',
    () => {
      for (const path of ['/proc/missing', '/proc/missing/below'])
        expect(() => makeFolder(path)).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    },
  );
});

import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { describe, expect, it } from 'vitest';
import { describeFile, watchFile } from './watch-file.ts';

function watch(path: string, look?: (path: string) => string, known?: string) {
  let changes = 0;
  let next: (() => void) | undefined;
  const stop = watchFile({
    path,
    known,
    ...(look === undefined ? {} : { look }),
    schedule(afterMs, callback) {
      expect(afterMs).toBe(1_000);
      next = callback;
      return () => {
        next = undefined;
      };
    },
    onChange: () => {
      changes += 1;
    },
  });
  return {
    stop,
    /** Lets some seconds pass; returns how often a change was reported so far. */
    pass(seconds: number) {
      for (let second = 0; second < seconds; second += 1) next?.();
      return changes;
    },
    isWatching: () => next !== undefined,
  };
}

describe('A watched file', () => {
  it('that looks the same is no change', () => {
    const { pass } = watch('file', () => 'a');
    expect(pass(100)).toBe(0);
  });

  it('that changes is reported once it has stayed as it is for a second, and once', () => {
    let text = 'a';
    const { pass } = watch('file', () => text);
    text = 'b';
    expect(pass(1)).toBe(0);
    expect(pass(1)).toBe(1);
    expect(pass(10)).toBe(1);
  });

  it('that changed since it was known, before the first look, is reported; one that did not is not', () => {
    const changed = watch('file', () => 'b', 'a');
    expect(changed.pass(1)).toBe(0);
    expect(changed.pass(10)).toBe(1);
    expect(watch('file', () => 'b', 'b').pass(10)).toBe(0);
  });

  it('that is still being written is left alone until it is not', () => {
    let size = 0;
    let isWriting = true;
    const { pass } = watch('file', () => {
      if (isWriting) size += 1;
      return String(size);
    });
    expect(pass(10)).toBe(0);
    isWriting = false;
    expect(pass(2)).toBe(1);
  });

  it('that is as it was again before the change is reported is no change', () => {
    let text = 'a';
    const { pass } = watch('file', () => text);
    text = 'b';
    pass(1);
    text = 'a';
    expect(pass(10)).toBe(0);
  });

  it('is not looked at any more once that is stopped', () => {
    let text = 'a';
    const { pass, stop, isWatching } = watch('file', () => text);
    stop();
    text = 'b';
    expect([pass(5), isWatching()]).toEqual([0, false]);
  });
});

describe('In the file system', () => {
  it('a change between the description and the watch is reported, and without a change nothing is', () => {
    const path = join(createTemporaryFolder(), 'sallyport.yaml');
    writeFileSync(path, 'a: 1\n');
    const known = describeFile(path);
    expect(watch(path, undefined, known).pass(3)).toBe(0);
    writeFileSync(path, 'a: 2 \n');
    expect(watch(path, undefined, known).pass(3)).toBe(1);
  });

  it('a change of content, a file moved into its place and a file that is gone are reported', () => {
    const path = join(createTemporaryFolder(), 'sallyport.yaml');
    writeFileSync(path, 'a: 1\n');
    const { pass } = watch(path);
    expect(pass(3)).toBe(0);
    writeFileSync(path, 'a: 2 \n');
    expect(pass(3)).toBe(1);
    writeFileSync(`${path}.new`, 'a: 3 \n');
    renameSync(`${path}.new`, path);
    expect(pass(3)).toBe(2);
    rmSync(path);
    expect(pass(3)).toBe(3);
    expect(pass(3)).toBe(3);
  });

  it('the exchanged link of a Kubernetes volume is reported', () => {
    const folder = createTemporaryFolder();
    for (const version of ['one', 'two']) {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, 'sallyport.yaml'), 'a: 1\n');
    }
    symlinkSync('one', join(folder, '..data'));
    symlinkSync(join('..data', 'sallyport.yaml'), join(folder, 'sallyport.yaml'));
    const { pass } = watch(join(folder, 'sallyport.yaml'));
    expect(pass(3)).toBe(0);
    symlinkSync('two', join(folder, '..data_new'));
    renameSync(join(folder, '..data_new'), join(folder, '..data'));
    expect(pass(3)).toBe(1);
  });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LONG_FILES, orderFiles } from './long-files-first.ts';

const ROOT = join(import.meta.dirname, '../..');
const [LONG = ''] = LONG_FILES;
const names = [...Array.from({ length: 30 }, (_, n) => `unit:${n}.test.ts`), `conformance:${LONG}`];
const order = (seed: number, files = names) => orderFiles(files, (name) => name, seed);

describe('The order of test files', () => {
  it('begins with the long ones', () => {
    for (const seed of [1, 2, 3]) expect(order(seed)[0]).toBe(`conformance:${LONG}`);
  });

  it('is given by the seed alone, and another seed gives another one', () => {
    expect(order(1, names.toReversed())).toEqual(order(1));
    expect(order(2)).not.toEqual(order(1));
    expect(order(2).toSorted()).toEqual(names.toSorted());
  });

  it('names only long files that exist', () => {
    expect(LONG_FILES.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

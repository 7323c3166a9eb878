import { describe, expect, it } from 'vitest';
import { formatSlowest } from './slowest-files.ts';

const file = (n: number) => ({ project: 'unit', path: `${n}.test.ts`, durationMs: n * 1_000 });

describe('The slowest files of a run', () => {
  it('are ten, slowest first, with what all took together', () => {
    const lines = formatSlowest([3, 12, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11].map(file));
    expect(lines[0]).toBe('The slowest of 12 files, which took 78.0 s together:');
    expect(lines).toHaveLength(11);
    expect(lines[1]).toBe('   12.0 s  unit  12.test.ts');
    expect(lines[10]).toBe('    3.0 s  unit  3.test.ts');
  });

  it('are not printed for a run of one file', () => {
    expect(formatSlowest([file(1)])).toEqual([]);
  });
});

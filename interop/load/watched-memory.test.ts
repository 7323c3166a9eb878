import { describe, expect, it } from 'vitest';
import { growthOf } from './watched-memory.ts';

/** A process of 150 MB whose garbage is collected every five seconds, looked at for 22 seconds. */
const sawtooth = Array.from({ length: 22 }, (_, n) => 150 + (n % 5) * 2);

describe('What memory grows by', () => {
  it('is next to nothing where garbage comes and goes', () => {
    expect(Math.abs(growthOf(sawtooth))).toBeLessThan(2);
  });

  it('is what is leaked, garbage or not', () => {
    const growth = growthOf(sawtooth.map((mb, n) => mb + n));
    expect(growth).toBeGreaterThan(17);
    expect(growth).toBeLessThan(23);
  });

  it('is not moved by a few values that stand out, at the end least of all', () => {
    expect(growthOf(sawtooth.with(3, 400).with(20, 10).with(21, 400))).toBeLessThan(4);
  });

  it('of thousands of values is found as well', () => {
    expect(growthOf(Array.from({ length: 5_000 }, (_, n) => n / 100))).toBeCloseTo(50, 0);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HalvedCache } from './halved-cache.ts';

describe('HalvedCache', () => {
  it('gives what was set last, nothing that was deleted, and never holds more than its limit', () => {
    const step = fc.record({
      kind: fc.constantFrom('set', 'delete', 'get', 'clear'),
      key: fc.nat(30),
      value: fc.nat(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 12 }), fc.array(step), (limit, steps) => {
        const cache = new HalvedCache<number, number>(limit);
        const model = new Map<number, number>();
        for (const { kind, key, value } of steps) {
          if (kind === 'set') {
            cache.set(key, value);
            model.set(key, value);
            expect(cache.get(key)).toBe(value);
          } else if (kind === 'delete') {
            cache.delete(key);
            model.delete(key);
          } else if (kind === 'clear') {
            cache.clear();
            model.clear();
          }
          // What it still has is right; what it has forgotten is its right.
          const found = cache.get(key);
          if (found !== undefined) expect(found).toBe(model.get(key));
          expect(cache.size).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  it('keeps what is asked for, however many others come and go', () => {
    const cache = new HalvedCache<number, string>(10);
    cache.set(-1, 'asked for');
    cache.set(-2, 'not asked for');
    for (let key = 0; key < 1_000; key += 1) {
      cache.set(key, 'passing');
      expect(cache.get(-1)).toBe('asked for');
    }
    expect(cache.get(-2)).toBeUndefined();
  });

  it('keeps at least the newest half of its limit', () => {
    const cache = new HalvedCache<number, number>(10);
    for (let key = 0; key < 100; key += 1) cache.set(key, key);
    for (let key = 95; key < 100; key += 1) expect(cache.get(key)).toBe(key);
    expect(cache.get(0)).toBeUndefined();
  });
});

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
            const isCrowded =
              cache.size === 2 * Math.floor(limit / 2) && cache.get(key) === undefined;
            cache.set(key, value);
            // Where there is no room to spare the second time counts.
            if (isCrowded) cache.set(key, value);
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
      cache.set(key, 'passing');
      expect(cache.get(-1)).toBe('asked for');
    }
    expect(cache.get(-2)).toBeUndefined();
  });

  it('has nothing pushed out of it by what is shown once', () => {
    const cache = new HalvedCache<number, number>(10);
    for (let key = 0; key < 10; key += 1) cache.set(key, key);
    for (let key = 10; key < 1_000; key += 1) cache.set(key, key);
    expect(cache.size).toBe(10);
    for (let key = 5; key < 10; key += 1) expect(cache.get(key)).toBe(key);
    for (let key = 10; key < 1_000; key += 1) expect(cache.get(key)).toBeUndefined();
  });

  it('makes room for what is shown a second time, soon after the first', () => {
    const cache = new HalvedCache<number, number>(10);
    for (let key = 0; key < 10; key += 1) cache.set(key, key);
    cache.set(11, 11);
    expect(cache.get(11)).toBeUndefined();
    cache.set(11, 12);
    expect(cache.get(11)).toBe(12);
    expect(cache.size).toBeLessThanOrEqual(10);
  });

  it('takes the new value of a key it has, at once', () => {
    const cache = new HalvedCache<number, number>(10);
    for (let key = 0; key < 10; key += 1) cache.set(key, key);
    cache.set(3, 30);
    cache.set(9, 90);
    expect([cache.get(3), cache.get(9)]).toEqual([30, 90]);
  });
});

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { BoundedCache } from './bounded-cache.ts';

function fill(limit: number): BoundedCache<number, number> {
  const cache = new BoundedCache<number, number>(limit);
  for (let key = 0; key < limit; key += 1) cache.set(key, key);
  return cache;
}

describe('BoundedCache', () => {
  it('gives what was set last, nothing that was deleted, and never holds more than its limit', () => {
    const step = fc.record({
      kind: fc.constantFrom('set', 'delete', 'get', 'clear'),
      key: fc.nat(30),
      value: fc.nat(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(step), (limit, steps) => {
        const cache = new BoundedCache<number, number>(limit);
        const model = new Map<number, number>();
        for (const { kind, key, value } of steps) {
          if (kind === 'set') {
            cache.set(key, value);
            // Where there was no room the second time counts.
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
    const cache = fill(10);
    for (let key = 10; key < 1_000; key += 1) {
      expect(cache.get(0)).toBe(0);
      cache.set(key, key);
      cache.set(key, key);
      expect(cache.get(key)).toBe(key);
    }
    expect(cache.get(0)).toBe(0);
    expect(cache.get(1)).toBeUndefined();
    expect(cache.size).toBe(10);
  });

  it('makes room also where everything was asked for', () => {
    const cache = fill(10);
    for (let key = 0; key < 10; key += 1) cache.get(key);
    cache.set(10, 10);
    cache.set(10, 10);
    expect(cache.get(10)).toBe(10);
    expect(cache.size).toBe(10);
  });

  it('has nothing pushed out of it by what is shown once', () => {
    const cache = fill(10);
    for (let key = 10; key < 1_000; key += 1) cache.set(key, key);
    for (let key = 0; key < 10; key += 1) expect(cache.get(key)).toBe(key);
    for (let key = 10; key < 1_000; key += 1) expect(cache.get(key)).toBeUndefined();
  });

  it('takes the new value of a key it has, at once', () => {
    const cache = fill(10);
    cache.set(3, 30);
    cache.set(9, 90);
    expect([cache.get(3), cache.get(9)]).toEqual([30, 90]);
  });

  it('keeps everything at once again after it was cleared', () => {
    const cache = fill(10);
    cache.clear();
    cache.set(1, 1);
    expect(cache.get(1)).toBe(1);
  });

  it('asks for no value that it does not keep', () => {
    const cache = fill(2);
    const create = vi.fn(() => 20);
    cache.offer(2, create);
    expect(create).not.toHaveBeenCalled();
    cache.offer(2, create);
    expect(create).toHaveBeenCalledOnce();
    expect(cache.get(2)).toBe(20);
  });
});

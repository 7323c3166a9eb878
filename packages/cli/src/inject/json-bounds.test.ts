import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonExcess } from './json-bounds.ts';

const BOUNDS = { depthMax: 3, tokensMax: 10 };

function find(text: string, bounds = BOUNDS) {
  return findJsonExcess(Buffer.from(text), bounds);
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + countValues(member), 1);
}

describe('A JSON text before it is parsed', () => {
  it.each([
    ['at the limit of depth', '[[{"a":1}]]', undefined],
    ['beyond it', '[[{"a":[]}]]', 'too_deep'],
    ['beyond it, and broken off', '[[[[', 'too_deep'],
    ['that goes up as often as down', '[[],[],[],[],[]]', undefined],
    ['at the limit of values', `[${'1,'.repeat(9)}1]`, undefined],
    ['beyond it', `[${'1,'.repeat(10)}1]`, 'too_many_values'],
    ['with many empty lists', `[[${'[],'.repeat(9)}[]]]`, 'too_many_values'],
    ['with signs within a string', `["${'[{,:'.repeat(9)}"]`, undefined],
    ['with a quote within a string', `["\\"${'['.repeat(9)}"]`, undefined],
    ['with a string that ends in a backslash', `["\\\\",${'['.repeat(9)}`, 'too_deep'],
    ['that closes what it has not opened', `]]]]${'['.repeat(7)}`, undefined],
    ['without any content', '', undefined],
  ])('%s', (_, text, excess) => {
    expect(find(text)).toBe(excess);
  });

  it('is taken for as deep as it is, and holds no more than two values for each sign', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        const depth = depthOf(value);
        expect(find(text, { depthMax: depth, tokensMax: 1_000_000 })).toBeUndefined();
        if (depth > 0)
          expect(find(text, { depthMax: depth - 1, tokensMax: 1_000_000 })).toBe('too_deep');
        const values = countValues(value);
        const fewer = Math.ceil(values / 2) - 1;
        if (fewer > 0)
          expect(find(text, { depthMax: 100, tokensMax: fewer - 1 })).toBe('too_many_values');
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { isSelected } from './label-selector.ts';

const LABELS = { a: '1', b: '2' };
const expression = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, values }],
});

describe('A label selector', () => {
  it.each([
    [undefined, true],
    [{}, true],
    [{ matchLabels: { a: '1' } }, true],
    [{ matchLabels: { a: '1', b: '1' } }, false],
    [{ matchLabels: { c: '1' } }, false],
    [expression('a', 'In', '1', '3'), true],
    [expression('a', 'In', '3'), false],
    [expression('c', 'In', '1'), false],
    [expression('a', 'NotIn', '1'), false],
    [expression('c', 'NotIn', '1'), true],
    [expression('a', 'Exists'), true],
    [expression('c', 'Exists'), false],
    [expression('a', 'DoesNotExist'), false],
    [expression('c', 'DoesNotExist'), true],
    [expression('a', 'Gt', '0'), false],
    [{ matchLabels: { a: '1' }, ...expression('b', 'NotIn', '2') }, false],
  ])('%j selects: %s', (selector, expected) => {
    expect(isSelected(LABELS, selector)).toBe(expected);
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toPrintable } from './printable.ts';

it.each([
  ['plain words', 'plain words'],
  ['two\r\nlines\u0000', 'two lines'],
  ['\u001b[31mred\u001b[0m', '[31mred [0m'],
  ['abc\u202edef', 'abc def'],
  ['  ', ''],
])('text of a server %j is shown as %j', (text, shown) => {
  expect(toPrintable(text)).toBe(shown);
});

it('any text of a server becomes one line of bounded length without control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
      const shown = toPrintable(text, 50);
      expect(Array.from(shown).length).toBeLessThanOrEqual(51);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withoutUnprintable } from './printable.ts';

it.each([
  ['plain words, Grüße, 世界', 'plain words, Grüße, 世界'],
  ['two  blanks stay', 'two  blanks stay'],
  ['\u001b[31mred', ' [31mred'],
  ['\u009b2J', ' 2J'],
  ['abc\u202edef\u2028', 'abc def '],
  ['half \ud800', 'half \ufffd'],
])('text %j is shown as %j', (text, shown) => {
  expect(withoutUnprintable(text)).toBe(shown);
});

it('any text becomes one line that moves, hides and reorders nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const shown = withoutUnprintable(text);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(withoutUnprintable(shown)).toBe(shown);
    }),
  );
});

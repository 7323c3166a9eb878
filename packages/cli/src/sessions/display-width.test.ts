import { withoutUnprintable } from '@sallyport/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutTo, displayWidth, padTo, toCell } from './display-width.ts';

const RUNS = process.env['CI'] === undefined ? 500 : 5_000;
const anyText = fc
  .array(
    fc.oneof(
      fc.nat({ max: 0xff }),
      fc.nat({ max: 0xffff }),
      fc.constantFrom(0x301, 0x4e2d, 0x1f600),
    ),
    {
      maxLength: 40,
    },
  )
  .map((points) => String.fromCodePoint(...points));

describe('text in a table', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', '[31mred [0m'],
    ['\u009b2Jgone', '2Jgone'],
    ['one\ttwo\r\nthree', 'one two three'],
    ['\u202egnp.exe', 'gnp.exe'],
    ['zero\u200bwidth', 'zero width'],
    ['  blanks  ', 'blanks'],
    ['', ''],
  ])('%j becomes %j', (text, cell) => {
    expect(toCell(text)).toBe(cell);
  });

  it('keeps at most three marks on a letter, so that no line smears over the next', () => {
    const smear = `a${'\u0301'.repeat(50)}b`;
    expect(toCell(smear)).toBe(`a${'\u0301'.repeat(3)}b`);
    expect(toCell('e\u0301')).toBe('e\u0301');
  });

  it('holds nothing unprintable and no blank at its ends, whatever it was', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const cell = toCell(text);
        expect(withoutUnprintable(cell)).toBe(cell);
        expect(cell).toBe(cell.trim());
        expect(toCell(cell)).toBe(cell);
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ['ada', 3],
    ['山田', 4],
    ['e\u0301', 1],
    ['😀', 2],
    ['ｱｲ', 2],
    ['Ａ', 2],
    ['👩\u200d👩\u200d👧', 2],
    ['🇩🇪', 2],
    ['☺\ufe0f', 2],
    ['한', 2],
    ['', 0],
  ])('%s takes %i columns', (text, columns) => {
    expect(displayWidth(text)).toBe(columns);
  });

  it.each([
    ['ada@corp.example', 8, 'end', 'ada@cor…'],
    ['ada@corp.example', 9, 'middle', 'ada@…mple'],
    ['ada', 3, 'end', 'ada'],
    ['山田太郎', 5, 'end', '山田…'],
    ['山田太郎', 4, 'end', '山…'],
    ['ada', 1, 'end', '…'],
  ] as const)('%s cut to %i columns at its %s is %s', (text, columns, where, cut) => {
    expect(cutTo(text, columns, where)).toBe(cut);
  });

  it('is never wider than it was cut to, and as wide as it was padded to', () => {
    fc.assert(
      fc.property(
        anyText,
        fc.integer({ min: 1, max: 30 }),
        fc.constantFrom('end' as const, 'middle' as const),
        (text, columns, where) => {
          const cut = cutTo(toCell(text), columns, where);
          expect(displayWidth(cut)).toBeLessThanOrEqual(columns);
          expect(displayWidth(padTo(cut, columns))).toBe(columns);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wrapLine, wrapTalk } from './wrap-line.ts';

describe('A line on a terminal', () => {
  it('is broken between words, and what follows keeps the indentation', () => {
    expect(wrapLine('  one two three', 9)).toBe('  one two\n  three');
    expect(wrapLine('one two three', 13)).toBe('one two three');
  });

  it('keeps an address that is longer than the terminal whole', () => {
    expect(wrapLine('  https://idp.example/authorize', 10)).toBe('  https://idp.example/authorize');
    expect(wrapLine('at https://idp.example/ now', 10)).toBe('at\nhttps://idp.example/\nnow');
  });

  it('loses no word, and is too wide only for one word', () => {
    const word = fc.stringMatching(/^[a-z]{1,12}$/);
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1 }),
        fc.integer({ min: 1, max: 40 }),
        (words, columns) => {
          const wrapped = wrapLine(words.join(' '), columns);
          expect(wrapped.split(/\s/)).toEqual(words);
          for (const line of wrapped.split('\n'))
            expect(line.length <= columns || !line.includes(' ')).toBe(true);
        },
      ),
    );
  });

  it.each([
    ['a terminal', { isTTY: true, columns: 7 }, 'one two\nthree\nfour'],
    ['no terminal', { columns: 7 }, 'one two three\nfour'],
    ['a terminal that does not give its width', { isTTY: true, columns: 0 }, 'one two three\nfour'],
  ])('said to %s', (_, output, expected) => {
    const said: string[] = [];
    wrapTalk((line) => said.push(line), output)('one two three\nfour');
    expect(said).toEqual([expected]);
  });
});

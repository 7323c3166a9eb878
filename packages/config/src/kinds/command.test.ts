import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandKind } from './command.ts';

const read = (text: string): unknown => {
  const parsed = commandKind.parse(commandKind.fromText(text));
  return parsed.ok ? parsed.value : undefined;
};

describe('a command in a variable or flag', () => {
  it.each([
    ['mint-token', ['mint-token']],
    ['  cat   /var/run/token ', ['cat', '/var/run/token']],
    [`sh -c 'echo "$TOKEN" | tr a b'`, ['sh', '-c', 'echo "$TOKEN" | tr a b']],
    [String.raw`a "b \"c\" d" e\ f`, ['a', 'b "c" d', 'e f']],
    [String.raw`a "\n"`, ['a', String.raw`\n`]],
    [`a '' x''y`, ['a', '', 'xy']],
    ['["cat", "/a b"]', ['cat', '/a b']],
    ['["cat", 7]', undefined],
    ['["cat"', undefined],
    [`a 'b`, undefined],
    ['a "b', undefined],
    ['a \\', undefined],
  ])('%s is %j', (text, words) => {
    const isWithEmptyWord = words?.includes('') === true;
    if (isWithEmptyWord) expect(commandKind.fromText(text)).toEqual(words);
    else expect(read(text)).toEqual(words);
  });

  it('is read back from quoted words exactly', () => {
    const word = fc.string({ minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const quoted = words.map((text) => `'${text.replaceAll("'", `'\\''`)}'`).join(' ');
        expect(commandKind.fromText(quoted)).toEqual(words);
      }),
    );
  });
});

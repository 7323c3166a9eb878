import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Directive, parseNginx } from './parse-nginx.ts';

/** Directives in brief: name and words, blocks in braces. */
function brief(text: string): string {
  const write = (directives: readonly Directive[]): string =>
    directives
      .map(({ name, words, block }) =>
        [
          name,
          ...words.map((word) => JSON.stringify(word)),
          ...(block ? [`{${write(block)}}`] : []),
        ].join(' '),
      )
      .join('; ');
  const parsed = parseNginx(text);
  return parsed.ok ? write(parsed.value) : `line ${parsed.error.line}: ${parsed.error.found}`;
}

describe('A configuration of nginx', () => {
  it.each([
    ['a b c;', 'a "b" "c"'],
    ['a { b; c { d e; } }', 'a {b; c {d "e"}}'],
    ['# no { directive;\na; # b;', 'a'],
    [`a "b ; { '" 'c"';`, `a "b ; { '" "c\\""`],
    ['a "b\\"c";', 'a "b\\"c"'],
    [`a $b\${c}d;`, `a "$b\${c}d"`],
    ['a ~^/x/(?<y>.+)$;', 'a "~^/x/(?<y>.+)$"'],
    ["a b='c'd;", 'a "b=\'c\'d"'],
    ['a{b;}', 'a {b}'],
    ['', ''],
  ])('%j is read as %s', (text, expected) => {
    expect(brief(text)).toBe(expected);
  });

  it.each([
    ['a', 'line 1: a without a semicolon'],
    ['a {\n b;', 'line 2: a block without an end'],
    ['a;\n}', 'line 2: a brace too many'],
    ['a {\n b }', 'line 2: b without a semicolon'],
    [';', 'line 1: ; alone'],
    ['a{'.repeat(30), 'line 1: too many blocks within blocks'],
  ])('%j is refused: %s', (text, expected) => {
    expect(brief(text)).toBe(expected);
  });

  it('counts lines through comments and quoted text', () => {
    const parsed = parseNginx('# one\na "b\nc";\n\nd;');
    expect(parsed.ok && parsed.value.map(({ line }) => line)).toEqual([2, 5]);
  });

  it('leaves out code in Lua, whose braces end it', () => {
    expect(brief('a { content_by_lua_block { local t = {1} } b; }\nc;')).toBe(
      'a {content_by_lua_block; b}; c',
    );
  });

  it('gives back every tree of directives that is written with quotes', () => {
    const word = fc.string({ unit: 'binary', maxLength: 8 });
    const { tree } = fc.letrec<{ tree: Written[]; directive: Written }>((tie) => ({
      tree: fc.array(tie('directive'), { maxLength: 2 }),
      directive: fc.record({
        name: fc.stringMatching(/^[a-z_]{1,10}$/).filter((name) => !name.endsWith('_by_lua_block')),
        words: fc.array(word, { maxLength: 3 }),
        block: fc.option(tie('tree'), { nil: undefined, maxDepth: 3 }),
      }),
    }));
    fc.assert(
      fc.property(tree, (directives) => {
        const parsed = parseNginx(write(directives));
        expect(parsed.ok && parsed.value.map(withoutLine)).toEqual(directives);
      }),
    );
  });

  it.each(['${', '"', "'", '\\', '"\\', '{', 'a{b;}', '#', '$\n', 'a '])(
    'is read in one pass, whatever stands in it: 100000 times %j',
    (piece) => {
      expect(typeof parseNginx(piece.repeat(100_000)).ok).toBe('boolean');
    },
  );
});

type Written = Omit<Directive, 'line' | 'block'> & { readonly block: Written[] | undefined };

function write(directives: readonly Written[]): string {
  const quoted = (word: string) => `"${word.replaceAll(/[\\"]/g, '\\$&')}"`;
  return directives
    .map(({ name, words, block }) => {
      const head = [name, ...words.map(quoted)].join(' ');
      return block === undefined ? `${head};` : `${head} {${write(block)}}`;
    })
    .join('\n');
}

function withoutLine({ name, words, block }: Directive): Written {
  return { name, words, block: block?.map(withoutLine) };
}

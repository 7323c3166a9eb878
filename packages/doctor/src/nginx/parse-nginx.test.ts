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
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatConfigProblem } from '../problems.ts';
import { FILE_MAX_LENGTH, parseYaml } from './parse-yaml.ts';

/** What makes and breaks YAML. */
const PIECES: readonly string[] = [
  ...'CANARY a : - ? " [ ] { } , | > # % @ ` ~ 0x1 &x *x !t \\q ---\n ...\n'.split(' '),
  ...': |- |? |\n|  |\t|<<: |\u0000|\ufeff|\ud800|\r'.split('|'),
  "'",
];

function problemsOf(text: string): string[] {
  const result = parseYaml('c.yaml', text);
  return result.ok ? [] : result.error.map(formatConfigProblem);
}

describe('a configuration file that is no YAML we take', () => {
  it.each([
    ['a: 1\n\tb: 2\n', 'c.yaml:2: found a tab, expected blanks: YAML is not indented by tabs'],
    ['a: 1\n---\nb: 2\n', 'c.yaml:2: found a second document (---), expected one document'],
    ['a: 1\nb: *x\n', 'c.yaml:2: found an alias (*), expected the value itself'],
    ['a: 1\nb: &x 1\n', 'c.yaml:2: found an anchor (&), expected the value itself'],
    ['a: 1\nb: !!str 1\n', 'c.yaml:2: found a tag (!), expected the value itself'],
    ['a: 1\nb: !secret x\n', 'c.yaml:2: found a tag (!), expected the value itself'],
    ['\n- a\n', 'c.yaml:2: found no mapping, expected a mapping of keys at the top of the file'],
    ['hunter2', 'c.yaml:1: found no mapping, expected a mapping of keys at the top of the file'],
    ['%FOO\n---\na: 1\n', 'c.yaml:1: found a directive (%), expected none'],
    [
      'a: @x\n',
      'c.yaml:1: found a value that begins with a reserved character, expected the value in quotes',
    ],
    [
      'a: "\\q"\n',
      String.raw`c.yaml:1: found an unknown escape (\) in double quotes, expected single quotes, or the backslash twice`,
    ],
    [
      'a: b: c\n',
      'c.yaml:1: found a value on the wrong level, expected indentation by blanks, one key a line',
    ],
    [
      'a: 1\nb: "x\n',
      'c.yaml:3: found an unfinished key or value, expected a closing quote or bracket, a colon or a comma',
    ],
  ])('%j', (text, line) => {
    expect(problemsOf(text)[0]).toBe(line);
  });

  it.each(['a:\n  b: { x: 1\nc: 2\n', 'a:\n  b: [1, 2\nc: 2\n', 'a:\n  b: 1\n c: 2\n'])(
    'reports wrong indentation and of a bracket left open alike: %j',
    (text) => {
      expect(problemsOf(text)).toEqual([
        'c.yaml:3: found a value on the wrong level, or a { or [ above it that is not closed, expected indentation by blanks, one key a line, and every bracket closed',
      ]);
    },
  );

  it.each([
    'a: 1\nb:\n  c: [x, {y: z}]\n',
    '# nothing but a comment\n',
    '',
    '---\na: 1\n...\n',
    'a: "#&*!%@\\t"\n',
    'a: |\n  two\n  lines\n',
    '\ufeffa: 1\n',
    'a: 1\r\nb: 2\r\n',
  ])('its twin is taken: %j', (text) => {
    expect(problemsOf(text)).toEqual([]);
  });

  it('reports every broken line, one problem each, at most 20', () => {
    expect(problemsOf('a: @\nb: 1\nc: `\n').map((line) => line.slice(0, 9))).toEqual([
      'c.yaml:1:',
      'c.yaml:3:',
    ]);
    expect(problemsOf('}\n'.repeat(500)).length).toBeLessThanOrEqual(20);
  });

  it('is refused above the size limit and taken at it', () => {
    const atLimit = `#${'x'.repeat(FILE_MAX_LENGTH - 1)}`;
    expect(problemsOf(atLimit)).toEqual([]);
    expect(problemsOf(`${atLimit}x`)).toEqual([
      'c.yaml: found 131073 characters, expected at most 131072 characters',
    ]);
  });
});

describe('a hostile file', () => {
  it.each([
    ['brackets', '['.repeat(9_000)],
    ['braces', '{a:'.repeat(9_000)],
    ['dashes', '- '.repeat(9_000)],
    ['question marks', '? '.repeat(9_000)],
    ['colons', ': '.repeat(9_000)],
    ['indentation', Array.from({ length: 40 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
  ])('nested by %s is reported as such', (_, text) => {
    expect(problemsOf(text)).toEqual([
      'c.yaml:'.concat(
        text.includes('\n') ? '33' : '1',
        ': found deep nesting, expected at most 32 levels of nesting',
      ),
    ]);
  });

  it('of a billion laughs is refused without expanding it', () => {
    const levels = Array.from(
      { length: 30 },
      (_, level) => `l${level + 1}: &l${level + 1} [*l${level}, *l${level}]`,
    );
    expect(problemsOf(['l0: &l0 [x]', ...levels].join('\n'))).toHaveLength(20);
  });

  it.each([
    ['anchors', '&a '.repeat(9_000)],
    ['tags', '!a '.repeat(9_000)],
    ['closing braces', '}\n'.repeat(9_000)],
    ['escapes', `"${'\\x'.repeat(9_000)}`],
  ])('of %s is refused', (_, text) => {
    expect(problemsOf(text)).not.toEqual([]);
  });

  it('never makes the parser throw, and never has its text quoted', () => {
    const piece = fc.constantFrom(...PIECES);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        for (const problem of problemsOf(pieces.join(''))) expect(problem).not.toContain('CANARY');
      }),
      { numRuns: 2_000 },
    );
  });
});

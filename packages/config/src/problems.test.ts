import { describe, expect, it } from 'vitest';
import { describeFound, displayKey, formatConfigProblem, orderProblems } from './problems.ts';

const PROBLEM = { file: 'core.yaml', line: 3, key: 'a.b', found: 'x', expected: 'y' };

describe('formatConfigProblem', () => {
  it.each([
    [PROBLEM, 'core.yaml:3: a.b: found x, expected y'],
    [{ ...PROBLEM, line: undefined }, 'core.yaml: a.b: found x, expected y'],
    [{ ...PROBLEM, key: '' }, 'core.yaml:3: found x, expected y'],
    [
      { ...PROBLEM, file: 'environment', line: undefined, variable: 'A_B' },
      'environment: a.b (A_B): found x, expected y',
    ],
  ])('%j', (problem, line) => {
    expect(formatConfigProblem(problem)).toBe(line);
  });

  it('stays on one line whatever the file is called', () => {
    expect(formatConfigProblem({ ...PROBLEM, file: 'a\nb\u2028c\u001b[2J' })).toBe(
      'a b c [2J:3: a.b: found x, expected y',
    );
  });

  it.each(['file', 'key', 'found', 'expected'] as const)(
    'lets nothing in %s move, hide or reorder text',
    (field) => {
      const problem = { ...PROBLEM, [field]: 'a\u009b2J\u202eb\u200bc' };
      expect(formatConfigProblem(problem)).toContain('a 2J b c');
    },
  );
});

describe('describeFound', () => {
  it.each([
    [undefined, 'nothing'],
    [null, 'null'],
    [true, 'true'],
    [3.5, '3.5'],
    ['yes', '"yes"'],
    [['hunter2'], 'a list of 1'],
    [{ password: 'hunter2' }, 'a mapping'],
    ['a\nb', String.raw`"a\nb"`],
    ['x'.repeat(61), `"${'x'.repeat(60)}…"`],
    ['https://ada:hunter2@idp.example', 'a string of 31 characters with user information'],
    ['https://idp.example/?key=hunter2', '"https://idp.example/?…"'],
    ['ada@example.com', '"ada@example.com"'],
  ])('%j: %s', (value, found) => {
    expect(describeFound(value)).toBe(found);
  });

  it.each([
    ['hunter2', 'a string of 7 characters'],
    ['', 'an empty string'],
    [12345678, 'a number'],
    [['hunter2'], 'a list of 1'],
  ])('withheld %j: %s', (value, found) => {
    expect(describeFound(value, true)).toBe(found);
  });
});

describe('displayKey', () => {
  it('keeps plain names and quotes, shortens and escapes others', () => {
    expect(displayKey('auth.authorizedUris[2]')).toBe('auth.authorizedUris[2]');
    expect(displayKey('a b\n')).toBe(String.raw`"a b\n"`);
    expect(displayKey('x'.repeat(100))).toHaveLength(63);
  });
});

describe('orderProblems', () => {
  it('drops the repeated report of one variable, never one of a file or another finding', () => {
    const env = { file: 'environment', line: undefined, variable: 'V', found: 'x', expected: 'y' };
    const kept = orderProblems([
      { ...env, key: 'b' },
      { ...env, key: 'c' },
      { ...env, key: 'c', found: 'z' },
      { ...PROBLEM, key: 'd' },
      { ...PROBLEM, key: 'e' },
    ]);
    expect(kept.map(({ key }) => key)).toEqual(['d', 'e', 'b', 'c']);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { booleanKind, enumKind, integerKind, type Kind, listKind } from './kind.ts';
import {
  claimNameKind,
  durationKind,
  orEmpty,
  pathKind,
  scopeKind,
  secretKind,
  textKind,
} from './text.ts';

function keep<T>(kind: Kind<T>, value: unknown): T | undefined {
  const parsed = kind.parse(value);
  return parsed.ok ? parsed.value : undefined;
}

function expected<T>(kind: Kind<T>, value: unknown): readonly string[] {
  const parsed = kind.parse(value);
  return parsed.ok ? [] : parsed.error.map((problem) => problem.expected);
}

describe('text', () => {
  const kind = textKind({ name: 'string', expected: 'a word' });

  it('is kept exactly, and refused rather than trimmed', () => {
    expect(keep(kind, 'a b')).toBe('a b');
    expect(expected(kind, 'a ')).toEqual(['a word, without white space around it']);
    expect(expected(kind, '\u00a0a')).toEqual(['a word, without white space around it']);
    expect(expected(kind, 'a\nb')).toEqual(['a word, without control characters']);
    expect(expected(kind, '\ud800')).toEqual(['a word, without control characters']);
    expect(expected(kind, 'x'.repeat(2_049))).toEqual(['a word, of at most 2048 characters']);
    expect(keep(kind, 'x'.repeat(2_048))).toBeDefined();
  });

  it('that YAML reads as a number or boolean is refused, and the message says to put it in quotes', () => {
    expect(expected(kind, 12)).toEqual(['a word, in quotes']);
    expect(expected(kind, true)).toEqual(['a word, in quotes']);
  });

  it('may be empty only where that means "not set"', () => {
    expect(expected(kind, '')).toEqual(['a word']);
    expect(keep(orEmpty(kind), '')).toBe('');
    expect(expected(orEmpty(kind), null)).toEqual(['a word']);
  });
});

describe('paths', () => {
  it.each(['/etc/secrets/x', './x', '../x'])('%s is taken', (path) => {
    expect(keep(pathKind, path)).toBe(path);
  });

  it.each(['hunter2', '', '/', 'a/b', '~/x', '.../x', '/a\u0000'])('%j is refused', (path) => {
    expect(keep(pathKind, path)).toBeUndefined();
  });
});

describe('numbers, words, durations', () => {
  it.each([
    [0, 0],
    [65_535, 65_535],
    [65_536, undefined],
    [-1, undefined],
    [1.5, undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    ['80', undefined],
  ])('port %s is kept as %s', (value, port) => {
    expect(keep(integerKind(0, 65_535), value)).toBe(port);
  });

  it('from the environment are read from text, and text that is none stays text', () => {
    expect(integerKind(0, 9).fromText('7')).toBe(7);
    expect(integerKind(0, 9).fromText('0x7')).toBe('0x7');
    expect(booleanKind.fromText('true')).toBe(true);
    expect(booleanKind.fromText('false')).toBe(false);
    expect(keep(booleanKind, booleanKind.fromText('yes'))).toBeUndefined();
    expect(listKind(scopeKind, 'scopes').fromText(' a,, b ,')).toEqual(['a', 'b']);
  });

  it('words are compared with case, and inherited names are no words', () => {
    const kind = enumKind(['On'], { off: 'it cannot be' });
    expect(keep(kind, 'On')).toBe('On');
    expect(expected(kind, 'on')).toEqual(['On']);
    expect(expected(kind, 'off')).toEqual(['On: it cannot be']);
    expect(expected(kind, 'toString')).toEqual(['On']);
  });

  it.each([
    ['1m', 60_000],
    ['1h30m', 5_400_000],
    ['1d', 86_400_000],
    ['59s', undefined],
    ['25h', undefined],
    ['5', undefined],
    [300, undefined],
    ['-5m', undefined],
    ['5 m', undefined],
  ])('duration %s is kept as %s ms', (value, ms) => {
    expect(keep(durationKind('1m', '1d'), value)).toBe(ms);
  });

  it.each([
    ['1s', '365d', 'a duration from 1s to 365d, such as 90s, 12h or 7d'],
    ['0s', '24h', 'a duration from 0s to 24h, such as 90s or 12h'],
    ['0s', '10m', 'a duration from 0s to 10m, such as 90s'],
    ['100ms', '10s', 'a duration from 100ms to 10s, such as 500ms or 5s'],
    ['0s', '100ms', 'a duration from 0s to 100ms'],
  ])('durations that are suggested lie within %s and %s', (min, max, text) => {
    expect(expected(durationKind(min, max), 'x')).toEqual([text]);
    for (const [example = ''] of text.split('such as')[1]?.matchAll(/\d+\w+/g) ?? [])
      expect(keep(durationKind(min, max), example)).toBeGreaterThan(0);
  });

  it('a duration printed is the duration read', () => {
    const kind = durationKind('0s', '365d');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 365 * 86_400_000 }), (ms) => {
        expect(keep(kind, kind.print(ms))).toBe(ms);
      }),
    );
  });
});

describe('lists', () => {
  it('report every wrong entry and its position', () => {
    const parsed = listKind(scopeKind, 'scopes').parse(['a', 'b c', 1]);
    expect(parsed).toEqual({
      ok: false,
      error: [
        { index: 1, expected: 'one scope an entry, without blanks or quotes' },
        { index: 2, expected: 'one scope an entry, without blanks or quotes, in quotes' },
      ],
    });
    expect(keep(listKind(scopeKind, 'scopes'), ['a', 'b'])).toEqual(['a', 'b']);
    expect(keep(listKind(scopeKind, 'scopes'), 'a')).toBeUndefined();
  });

  it('of claims take namespaced names', () => {
    expect(keep(claimNameKind, 'https://example.com/roles')).toBe('https://example.com/roles');
    expect(keep(claimNameKind, 'a b')).toBeUndefined();
  });
});

describe('secrets', () => {
  it('are any one line, and no printing shows them', () => {
    const secret = keep(secretKind, ' hunter2 ');
    expect(secret?.reveal()).toBe(' hunter2 ');
    expect(keep(secretKind, 'a\nb')).toBeUndefined();
    expect(keep(secretKind, 12)).toBeUndefined();
  });
});

/**
 * Kinds of values a setting can have: how they are read, checked and printed.
 *
 * @module
 */

import { accept, type JsonValue, type Result, refuse } from '@sallyport/protocol';

/** One reason why a value is not of its kind. */
export interface ValueProblem {
  /** Completes "expected …". */
  readonly expected: string;
  /** Position of the entry meant, when the value is a list. */
  readonly index?: number;
  /** The way on from that entry, when it is a mapping: a key, and a position in that key's list. */
  readonly path?: readonly (string | number)[];
  /** What stands there; by default the value itself is described. */
  readonly found?: string;
}

/** How values of one kind are read, checked and printed. */
export interface Kind<T> {
  /** For the documentation: `boolean`, `list of URL`. */
  readonly name: string;
  /** What any value of this kind is, completing "expected …". */
  readonly expected: string;
  /** The whole choice, for enumerations. */
  readonly values?: readonly string[];
  /** Set when values are kept in milliseconds: the field of `Config` is then named `…Ms`. */
  readonly unit?: 'milliseconds';
  /** A value that is not of this kind could be a secret in the wrong place, so it is not shown. */
  readonly isWithheld?: true;
  /** Decides whether a value from YAML is of this kind. Never throws. */
  parse(value: unknown): Result<T, readonly ValueProblem[]>;
  /** Brings an environment variable or flag into what `parse` reads; text it cannot read stays text. */
  fromText(text: string): unknown;
  /** Writes a value the way the file does. */
  print(value: T): JsonValue;
}

/** Refuses with one reason. */
export const wrong = (expected: string): Result<never, readonly ValueProblem[]> =>
  refuse([{ expected }]);

/** `true` or `false`; YAML's `yes` is text and refused, because YAML 1.1 and 1.2 read it differently. */
export const booleanKind: Kind<boolean> = {
  name: 'boolean',
  expected: 'true or false',
  parse: (value) => (typeof value === 'boolean' ? accept(value) : wrong('true or false')),
  fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
  print: (value) => value,
};

/** A whole number within bounds, both included. */
export function integerKind(min: number, max: number): Kind<number> {
  const expected = `a whole number from ${min} to ${max}`;
  return {
    name: 'integer',
    expected,
    parse: (value) =>
      typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
        ? accept(value)
        : wrong(expected),
    fromText: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text),
    print: (value) => value,
  };
}

/** A number from 0 to 1, both included. */
export const shareKind: Kind<number> = {
  name: 'share',
  expected: 'a number from 0 to 1',
  parse: (value) =>
    typeof value === 'number' && value >= 0 && value <= 1
      ? accept(value)
      : wrong('a number from 0 to 1'),
  fromText: (text) => (/^\d(?:\.\d{1,15})?$/.test(text) ? Number(text) : text),
  print: (value) => value,
};

/**
 * One of a choice of words, compared with case.
 *
 * @param values - The choice.
 * @param refused - Words one could expect to work, each with the reason why it does not.
 */
export function enumKind<const Word extends string>(
  values: readonly Word[],
  refused: Readonly<Record<string, string>> = {},
): Kind<Word> {
  const expected = values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`;
  return {
    name: 'enum',
    expected,
    values,
    parse: (value) => {
      const word = values.find((candidate) => candidate === value);
      if (word !== undefined) return accept(word);
      const isExplained = typeof value === 'string' && Object.hasOwn(refused, value);
      return wrong(isExplained ? `${expected}: ${refused[value]}` : expected);
    },
    fromText: (text) => text,
    print: (value) => value,
  };
}

/**
 * A list whose entries are of one kind; every wrong entry is reported.
 *
 * In an environment variable or flag, entries are separated by commas and blanks around them dropped.
 */
export function listKind<Text extends string>(
  entry: Kind<Text>,
  plural: string,
): Kind<readonly Text[]> {
  const expected = `a list of ${plural}`;
  return {
    name: `list of ${entry.name}`,
    expected,
    parse: (value) => {
      if (!Array.isArray(value)) return wrong(expected);
      const entries: Text[] = [];
      const problems: ValueProblem[] = [];
      for (const [index, item] of value.entries()) {
        const parsed = entry.parse(item);
        if (parsed.ok) entries.push(parsed.value);
        else problems.push(...parsed.error.map((problem) => ({ ...problem, index })));
      }
      return problems.length > 0 ? refuse(problems) : accept(Object.freeze(entries));
    },
    fromText: (text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    print: (value) => [...value],
  };
}

/** Makes a kind of lists refuse the empty one. */
export function notEmpty<T>(kind: Kind<readonly T[]>): Kind<readonly T[]> {
  return {
    ...kind,
    parse: (value) =>
      Array.isArray(value) && value.length === 0
        ? wrong(`${kind.expected}, at least one`)
        : kind.parse(value),
  };
}

/**
 * The kind of a list of mappings, each with the same few keys.
 *
 * @module
 */

import { accept, type JsonValue, refuse } from '@sallyport/protocol';
import { displayKey } from '../problems.ts';
import type { Kind, ValueProblem } from './kind.ts';

/** One key of each mapping. */
export interface Field<T> {
  readonly kind: Kind<T>;
  /** The value where a mapping does not give it; a field without one has to be given. */
  readonly fallback?: T;
  /** For the documentation. */
  readonly meaning: string;
}

/** A field for every member of a record, none left out, none too many. */
export type FieldsOf<Entry> = { readonly [Name in keyof Entry]: Field<Entry[Name]> };

/** A kind whose values consist of fields, for the documentation. */
export interface RecordListKind<Entry> extends Kind<readonly Entry[]> {
  readonly fields: Readonly<Record<string, Field<unknown>>>;
}

/**
 * A list of mappings. Every wrong value, unknown key and missing key is reported with its entry.
 *
 * A text cannot spell a mapping, so there is no variable or flag for such a list.
 *
 * @param plural - What the entries are, completing "a list of …".
 */
export function recordListKind<Entry extends object>(
  fields: FieldsOf<Entry>,
  plural: string,
): RecordListKind<Entry> {
  const expected = `a list of ${plural}`;
  const all: readonly (readonly [string, Field<unknown>])[] = Object.entries(fields);
  const names = all.map(([name]) => name);
  const mapping = `a mapping of ${names.join(', ')}`;

  return {
    name: 'list of mappings',
    expected,
    fields: Object.fromEntries(all),
    parse(value) {
      if (!Array.isArray(value)) return refuse([{ expected }]);
      const problems: ValueProblem[] = [];
      const entries = value.map((item: unknown, index) => parseEntry(item, index, problems));
      return problems.length > 0 ? refuse(problems) : accept(Object.freeze(entries as Entry[]));
    },
    fromText: (text) => text,
    print: (value) => value.map(printEntry),
  };

  function parseEntry(
    item: unknown,
    index: number,
    problems: ValueProblem[],
  ): Readonly<Record<string, unknown>> {
    const entry: Record<string, unknown> = {};
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      problems.push({ index, expected: mapping });
      return entry;
    }
    const given = new Map<string, unknown>(Object.entries(item));
    for (const name of given.keys()) {
      if (!names.includes(name))
        problems.push({
          index,
          path: [displayKey(name)],
          found: 'an unknown key',
          expected: `one of ${names.join(', ')}`,
        });
    }
    for (const [name, { kind, fallback }] of all) {
      if (!given.has(name)) {
        if (fallback === undefined)
          problems.push({ index, path: [name], found: 'nothing', expected: kind.expected });
        entry[name] = fallback;
        continue;
      }
      const parsed = kind.parse(given.get(name));
      if (parsed.ok) entry[name] = parsed.value;
      else
        for (const { index: inner, ...problem } of parsed.error)
          problems.push({ ...problem, index, path: inner === undefined ? [name] : [name, inner] });
    }
    return Object.freeze(entry);
  }

  function printEntry(entry: Entry): JsonValue {
    const values = entry as Readonly<Record<string, unknown>>;
    return Object.fromEntries(
      all
        .map(([name, { kind }]) => [name, kind.print(values[name])] as const)
        .filter(([, printed]) => printed !== ''),
    );
  }
}

/**
 * What is wrong with a configuration, where, and what would be right.
 *
 * @module
 */

import { withoutUnprintable } from '@sallyport/protocol';

/**
 * One thing to correct. `found` never holds a secret's value. Paths, keys and values are unfiltered input:
 * {@link formatConfigProblem} removes what a terminal would interpret.
 */
export interface ConfigProblem {
  /** Path of the configuration file, or `environment`, or `flag`. */
  readonly file: string;
  /** Line in the file, from 1; absent where there is no file. */
  readonly line: number | undefined;
  /** Dotted key, a list's entry as `auth.authorizedUris[2]`; empty when the file as a whole is meant. */
  readonly key: string;
  /** Environment variable the value came from, or could come from; absent for keys without one. */
  readonly variable?: string;
  /** What stands there, completing "found …". */
  readonly found: string;
  /** What would be right, completing "expected …". */
  readonly expected: string;
}

const SHOWN_MAX_LENGTH = 60;

/**
 * Writes a problem on one printable line: `file:line: key (VARIABLE): found …, expected …`.
 *
 * The one place that makes what a file's author or a folder's name put into it harmless to a terminal.
 */
export function formatConfigProblem(problem: ConfigProblem): string {
  const { file, line, key, variable, found, expected } = problem;
  const place = line === undefined ? file : `${file}:${line}`;
  const subject = [key, variable === undefined ? '' : `(${variable})`].filter(Boolean).join(' ');
  return withoutUnprintable(
    `${place}: ${subject === '' ? '' : `${subject}: `}found ${found}, expected ${expected}`,
  );
}

/**
 * Describes a value for `found`.
 *
 * Collections are only counted, never spelled out: a secret may have slipped into them. So is a
 * string with user information (`https://name:password@host`); a URL loses its query.
 *
 * @param value - Untrusted, of any type.
 * @param isWithheld - The place is, or could by mistake be, that of a secret: name the type only.
 */
export function describeFound(value: unknown, isWithheld = false): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return isWithheld ? describeWithheld(value) : quote(value);
  if (typeof value === 'number' || typeof value === 'boolean')
    return isWithheld ? `a ${typeof value}` : String(value);
  return `a ${typeof value}`;
}

/** Brings a key that is not ours into one short line: its name is the file author's choice. */
export function displayKey(name: string): string {
  return /^[\w.[\]-]{1,80}$/.test(name) ? name : JSON.stringify(shorten(name));
}

/**
 * Sorts problems as a person corrects them: the file from top to bottom, then the environment, then
 * flags; in the order found within a line. A variable that feeds two keys is reported once.
 */
export function orderProblems(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const seen = new Set<string>();
  return problems
    .filter(({ file, variable, found, expected }) => {
      if (file !== 'environment' || variable === undefined) return true;
      const identity = JSON.stringify([variable, found, expected]);
      return !seen.has(identity) && seen.add(identity);
    })
    .toSorted((a, b) => rank(a) - rank(b) || (a.line ?? 0) - (b.line ?? 0));
}

function rank({ file, line }: ConfigProblem): number {
  if (line !== undefined) return 0;
  return file === 'environment' ? 2 : file === 'flag' ? 3 : 1;
}

function describeWithheld(text: string): string {
  return text === '' ? 'an empty string' : `a string of ${text.length} characters`;
}

function quote(text: string): string {
  if (/:.*@/s.test(text)) return `a string of ${text.length} characters with user information`;
  const shown = text.includes('://') ? text.replace(/[?#].*$/s, (rest) => `${rest[0]}…`) : text;
  return JSON.stringify(shorten(shown));
}

function shorten(text: string): string {
  return text.length > SHOWN_MAX_LENGTH ? `${text.slice(0, SHOWN_MAX_LENGTH)}…` : text;
}

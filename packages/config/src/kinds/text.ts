/**
 * Kinds of plain text: names, identifiers, paths, durations, secrets.
 *
 * @module
 */

import { accept, formatDuration, parseDuration, type Result } from '@sallyport/protocol';
import { SecretText } from '../secret-text.ts';
import { type Kind, type ValueProblem, wrong } from './kind.ts';

const TEXT_MAX_LENGTH = 2_048;
// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROL = /[\u0000-\u001f\u007f]/;

/** What {@link textKind} makes a kind from. */
export interface TextKindOptions {
  readonly name: string;
  readonly expected: string;
  readonly allowsEmpty?: true;
  readonly isWithheld?: true;
  /** Says why text is not of this kind, or gives the text to keep. */
  readonly check?: (text: string) => Result<string, readonly ValueProblem[]>;
}

/**
 * Text of one line, at most 2,048 characters, without white space around it: nothing is trimmed
 * silently, so that two spellings of one value cannot differ invisibly.
 */
export function textKind(options: TextKindOptions): Kind<string> {
  const { name, expected, allowsEmpty, isWithheld, check = accept } = options;
  return {
    name,
    expected,
    ...(isWithheld === true ? { isWithheld } : {}),
    parse: (value) => {
      if (typeof value === 'number' || typeof value === 'boolean')
        return wrong(`${expected}, in quotes`);
      if (typeof value !== 'string') return wrong(expected);
      if (value === '') return allowsEmpty === true ? accept('') : wrong(expected);
      if (value.length > TEXT_MAX_LENGTH)
        return wrong(`${expected}, of at most ${TEXT_MAX_LENGTH} characters`);
      if (CONTROL.test(value) || !value.isWellFormed())
        return wrong(`${expected}, without control characters`);
      if (value.trim() !== value) return wrong(`${expected}, without white space around it`);
      return check(value);
    },
    fromText: (text) => text,
    print: (value) => value,
  };
}

/** Text that a regular expression describes. */
export function patternKind(name: string, expected: string, pattern: RegExp): Kind<string> {
  return textKind({
    name,
    expected,
    check: (text) => (pattern.test(text) ? accept(text) : wrong(expected)),
  });
}

/** Makes a kind of text optional: the empty string means "not set". */
export function orEmpty(kind: Kind<string>): Kind<string> {
  return { ...kind, parse: (value) => (value === '' ? accept('') : kind.parse(value)) };
}

/** An OAuth client id: printable ASCII (RFC 6749 appendix A.1). */
export const clientIdKind: Kind<string> = patternKind(
  'string',
  'a client ID of printable ASCII characters',
  /^[\x20-\x7e]+$/,
);

/** One OAuth scope (RFC 6749 appendix A.4): a blank would make two of it. */
export const scopeKind: Kind<string> = patternKind(
  'string',
  'one scope an entry, without blanks or quotes',
  /^[\x21\x23-\x5b\x5d-\x7e]+$/,
);

/** An audience to ask for: a URL, or whatever name the identity provider gave it. */
export const audienceKind: Kind<string> = patternKind(
  'string',
  'an audience of printable ASCII characters',
  /^[\x21-\x7e]+$/,
);

/**
 * The name of an environment variable. Capitals only, because the likeliest mistake is to give the
 * secret itself; the problem then names only its length.
 */
export const variableNameKind: Kind<string> = textKind({
  name: 'variable name',
  expected: 'the name of an environment variable in capitals, such as CLIENT_SECRET',
  isWithheld: true,
  check: (text) =>
    /^[A-Z_][A-Z0-9_]{0,127}$/.test(text)
      ? accept(text)
      : wrong('the name of an environment variable in capitals, such as CLIENT_SECRET'),
});

/** A claim's name; namespaced ones such as `https://example.com/roles` included. */
export const claimNameKind: Kind<string> = patternKind(
  'string',
  'the name of a claim',
  /^[\x21-\x7e]{1,200}$/,
);

/**
 * Text that stands before a subject: short, printable, without what a header or an address would
 * change.
 */
export const subjectPrefixKind: Kind<string> = patternKind(
  'string',
  'a prefix of at most 64 letters, digits and . _ : | / @ -',
  /^[A-Za-z0-9._:|/@-]{1,64}$/,
);

/**
 * A path of a file or directory. It must look like one (`/…`, `./…` or `../…`), because the likeliest
 * mistake is to give the secret itself; the problem then names only its length.
 */
export const pathKind: Kind<string> = textKind({
  name: 'path',
  expected: 'a path that begins with /, ./ or ../',
  isWithheld: true,
  check: (text) =>
    /^\.{0,2}\/./.test(text) ? accept(text) : wrong('a path that begins with /, ./ or ../'),
});

/** A secret in plain text: any single-line text, kept where no printing can show it. */
export const secretKind: Kind<SecretText> = {
  name: 'secret',
  expected: 'a string',
  isWithheld: true,
  parse: (value) => {
    if (typeof value !== 'string') return wrong('a string, in quotes');
    if (value.length > TEXT_MAX_LENGTH || CONTROL.test(value))
      return wrong(`a string of one line and at most ${TEXT_MAX_LENGTH} characters`);
    return accept(new SecretText(value));
  },
  fromText: (text) => text,
  print: (value) => value.toString(),
};

/**
 * A duration such as `90s`, `12h` or `7d`, kept in milliseconds, within bounds.
 *
 * @param expected - What to say is expected, where a rule leaves out some of what lies within the bounds.
 */
export function durationKind(
  min: string,
  max: string,
  expected: string = `a duration from ${min} to ${max}${suggestDurations(min, max)}`,
): Kind<number> {
  const [minMs, maxMs] = [toMs(min), toMs(max)];
  return {
    name: 'duration',
    expected,
    unit: 'milliseconds',
    parse: (value) => {
      const parsed = typeof value === 'string' ? parseDuration(value) : undefined;
      return parsed?.ok === true && parsed.value >= minMs && parsed.value <= maxMs
        ? accept(parsed.value)
        : wrong(expected);
    },
    fromText: (text) => text,
    print: (value) => formatDuration(value),
  };
}

/** Completes "a duration from … to …" by examples that lie there. */
function suggestDurations(min: string, max: string): string {
  const [minMs, maxMs] = [toMs(min), toMs(max)];
  const isWithin = (text: string) => toMs(text) >= minMs && toMs(text) <= maxMs;
  const usual = ['90s', '12h', '7d'].filter(isWithin);
  const examples = usual.length > 0 ? usual : ['500ms', '5s'].filter(isWithin);
  if (examples.length === 0) return '';
  const last = examples.at(-1);
  return `, such as ${examples.length === 1 ? last : `${examples.slice(0, -1).join(', ')} or ${last}`}`;
}

function toMs(text: string): number {
  const parsed = parseDuration(text);
  if (!parsed.ok) throw new TypeError(`${text} is no duration`);
  return parsed.value;
}

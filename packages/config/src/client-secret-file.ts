/**
 * The file with a client's secret: its text, or exactly what is wrong with it.
 *
 * @module
 */

import { readdirSync, type Stats, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { accept, type Result, refuse, withoutUnprintable } from '@sallyport/protocol';
import type { ConfigProblem } from './problems.ts';
import { readSecretText, withoutNewline } from './secret-file.ts';
import { isStandInText } from './stand-in-texts.ts';

/** What can be wrong with the file. */
export type SecretFindingCode =
  | 'assignment'
  | 'base64'
  | 'blank'
  | 'byte_order_mark'
  | 'control_character'
  | 'database_password_only'
  | 'empty'
  | 'file_missing'
  | 'folder_missing'
  | 'json'
  | 'key_missing'
  | 'link_broken'
  | 'lines'
  | 'newline'
  | 'not_synchronized'
  | 'quotes'
  | 'stand_in'
  | 'unreadable'
  | 'unusable'
  | 'white_space';

/** One thing that is wrong. No part of it holds any of the secret; `formatConfigProblem` writes it on a line. */
export interface SecretFinding extends ConfigProblem {
  readonly code: SecretFindingCode;
}

/** A file, and the configuration key that names it. */
export interface SecretPlace {
  readonly path: string;
  readonly key: string;
  /** Key of the Secret that the file is; `client_secret` when absent. */
  readonly secretKey?: string;
}

/** A file that holds a secret that can be sent. */
export interface ClientSecretFile {
  /** The caller MUST NOT keep or print it. */
  readonly secret: string;
  /** What is odd about it: it is sent all the same. */
  readonly warnings: readonly SecretFinding[];
}

const SECRET_KEY = 'client_secret';
const ALONE = 'the secret alone';

/**
 * Every finding, completing "found …, expected …". `…` stands for what the place gives: names of keys, or owner and
 * mode of the file.
 */
export const SECRET_FINDINGS: Readonly<
  Record<SecretFindingCode, Pick<ConfigProblem, 'found' | 'expected'>>
> = {
  folder_missing: {
    found: 'no folder to read it from',
    expected: 'a mounted Secret that holds the key client_secret',
  },
  file_missing: {
    found: 'no such file, in an empty folder',
    expected: 'a mounted Secret that holds the key client_secret',
  },
  key_missing: {
    found: 'no such key beside …',
    expected: 'the key client_secret in the mounted Secret',
  },
  not_synchronized: {
    found: 'no such key beside …',
    expected:
      'the key client_secret, which the secret synchronization (ExternalSecret) adds: it has not completed',
  },
  database_password_only: {
    found: 'no such key beside …, the database password',
    expected: 'the key client_secret added to the existing control plane service secret',
  },
  link_broken: {
    found: 'a symbolic link to a file that is not there',
    expected: 'the key client_secret in the mounted Secret',
  },
  unreadable: {
    found: 'a file that this user may not read (…)',
    expected:
      'one that it may read: the fsGroup of the pod, or the defaultMode of the volume, allows it',
  },
  unusable: { found: '…', expected: 'a file that holds client_secret' },
  empty: { found: 'an empty file', expected: 'a file that holds client_secret' },
  blank: { found: 'white space alone', expected: 'a file that holds client_secret' },
  byte_order_mark: {
    found: 'a byte order mark (BOM) before the secret',
    expected: `${ALONE}, in UTF-8 without one`,
  },
  stand_in: {
    found: 'a stand-in value, as a chart or an example has it',
    expected: 'the client secret of the service app',
  },
  newline: { found: 'a newline at the end, which is left out', expected: ALONE },
  white_space: { found: 'white space around the secret, which is kept', expected: ALONE },
  quotes: { found: 'quotes around the secret, which are kept', expected: ALONE },
  lines: { found: 'more than one line', expected: ALONE },
  control_character: { found: 'a control character in the secret', expected: ALONE },
  json: { found: 'what looks like JSON', expected: ALONE },
  assignment: { found: 'what looks like a name and a value', expected: ALONE },
  base64: {
    found: 'what looks like base64 of a secret',
    expected:
      'the secret itself: encode it once for data of a Secret, and not at all for stringData',
  },
};

/** Names of keys that are shown; a Secret has few. */
const SHOWN_KEYS = 8;
const KEY_NAME = /^[-\w.]{1,253}$/;
/** Characters that are shown of a name that is no name of a key. */
const SHOWN_NAME_LENGTH = 60;

/**
 * Reads the secret. Opens the file by its path, so that a Secret that was exchanged behind a symbolic link is seen.
 *
 * The value is the text without one newline at its end. A text that can be no client secret (RFC 6749 appendix A.2
 * allows printable ASCII) is judged as little as possible: it is refused with a byte order mark and as a stand-in,
 * and gives a warning with white space or quotes around it.
 *
 * @returns Otherwise the one thing that is wrong. Where the file is missing, the keys beside it are named, and never
 *   anything of their values.
 */
export function readClientSecretFile(place: SecretPlace): Result<ClientSecretFile, SecretFinding> {
  const read = readSecretText(place.path);
  if (!read.ok) {
    const { reason, found, code } = read.error;
    if (reason === 'absent') return refuse(findMissing(place));
    if (reason === 'empty') return refuse(finding(place, 'empty'));
    if (code === 'EACCES' || code === 'EPERM')
      return refuse(finding(place, 'unreadable', describeRights(place.path)));
    return refuse(finding(place, 'unusable', found));
  }
  return judgeClientSecret(read.value, place);
}

/**
 * Judges the text of a secret, as {@link readClientSecretFile} does, wherever it was read.
 *
 * @param place - What is named in what is wrong; no file of that path need exist.
 */
export function judgeClientSecret(
  text: string,
  place: SecretPlace,
): Result<ClientSecretFile, SecretFinding> {
  const secret = withoutNewline(text);
  if (secret === '') return refuse(finding(place, 'empty'));
  if (secret.startsWith('\ufeff')) return refuse(finding(place, 'byte_order_mark'));
  if (secret.trim() === '') return refuse(finding(place, 'blank'));
  if (isStandInText(secret)) return refuse(finding(place, 'stand_in'));
  const warnings = secret === text ? [] : [finding(place, 'newline')];
  return accept({ secret, warnings: [...warnings, ...findAround(secret, place)] });
}

/**
 * Says why a secret that the identity provider refused may be the wrong one, as far as its text shows.
 *
 * JSON, a name and a value, and base64 are guesses, and made here only. Base64 is standard base64 of 8 or more
 * printable characters, which random text hardly ever is. Does not know of a newline at the end, which was left out.
 */
export function explainRefusedSecret(secret: string, place: SecretPlace): readonly SecretFinding[] {
  return [
    ...findAround(secret, place),
    ...findInside(secret.trim()).map((code) => finding(place, code)),
  ];
}

function findInside(secret: string): readonly SecretFindingCode[] {
  const isShaped: Partial<Record<SecretFindingCode, boolean>> = {
    lines: /[\r\n]/.test(secret),
    control_character: /[^\P{Cc}\r\n]/u.test(secret),
    json: isJsonObjectOrList(secret),
    assignment: /^(?:export\s+)?[-\w.]*secret[-\w.]*\s*[=:]./is.test(secret),
    base64: isBase64OfText(secret),
  };
  const codes = Object.keys(isShaped) as SecretFindingCode[];
  return codes.filter((code) => isShaped[code]);
}

function isJsonObjectOrList(text: string): boolean {
  if (!/^[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function findAround(secret: string, place: SecretPlace): readonly SecretFinding[] {
  const bare = secret.trim();
  return [
    ...(bare === secret ? [] : [finding(place, 'white_space')]),
    ...(/^(["']).*\1$/s.test(bare) ? [finding(place, 'quotes')] : []),
  ];
}

function findMissing(place: SecretPlace): SecretFinding {
  const name = basename(place.path);
  const names = listNames(dirname(place.path));
  if (names === undefined) return finding(place, 'folder_missing');
  if (names.includes(name)) return finding(place, 'link_broken');
  if (names.length === 0) return finding(place, 'file_missing');
  if (name !== SECRET_KEY) return finding(place, 'key_missing', join(names));
  if (names.includes('oidc_client_secret'))
    return finding(place, 'not_synchronized', 'oidc_client_secret');
  const isPasswordAlone = names.length === 1 && names[0] === 'pass.txt';
  return finding(place, isPasswordAlone ? 'database_password_only' : 'key_missing', join(names));
}

/**
 * What the folder holds, names of keys first; what Kubernetes keeps beside the keys starts with two dots.
 * `undefined` without the folder.
 */
function listNames(folder: string): readonly string[] | undefined {
  try {
    const names = readdirSync(folder).filter((name) => !name.startsWith('..'));
    const [keys = [], others = []] = [true, false].map((isKey) =>
      names.filter((name) => KEY_NAME.test(name) === isKey).toSorted(),
    );
    return [...keys, ...others];
  } catch {
    return undefined;
  }
}

function join(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_KEYS).map(show);
  const rest = names.length - shown.length;
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`;
}

/** The name; in quotes, printable and cut if no key can have it. */
function show(name: string): string {
  if (KEY_NAME.test(name)) return name;
  const printable = withoutUnprintable(name);
  return printable.length > SHOWN_NAME_LENGTH
    ? `"${printable.slice(0, SHOWN_NAME_LENGTH).toWellFormed()}…"`
    : `"${printable}"`;
}

function describeRights(path: string): string {
  const user = process.getuid?.();
  const own = user === undefined ? 'access denied' : `uid ${user}`;
  const stat = orUndefined(() => statSync(path));
  if (stat === undefined) return `${own}; nor its folder`;
  return `${own}; mode ${(stat.mode & 0o777).toString(8)} of uid ${stat.uid}`;
}

function orUndefined(look: () => Stats): Stats | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function isBase64OfText(text: string): boolean {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
  const decoded = Buffer.from(text, 'base64');
  if (decoded.toString('base64') !== text) return false;
  return /^[\x21-\x7e]{8,}\r?\n?$/.test(decoded.toString('latin1'));
}

function finding(
  { path, key, secretKey = SECRET_KEY }: SecretPlace,
  code: SecretFindingCode,
  detail = '',
): SecretFinding {
  const { found, expected } = SECRET_FINDINGS[code];
  return {
    code,
    file: path,
    line: undefined,
    key: `${key} (${secretKey})`,
    found: found.replace('…', () => detail),
    expected: expected.replace(SECRET_KEY, () => secretKey),
  };
}

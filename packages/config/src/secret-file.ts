/**
 * Secrets in files, read again when the file changes.
 *
 * @module
 */

import { lstatSync } from 'node:fs';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { type FileRefusal, type FileTerms, readBoundedBytes } from './files/bounded-file.ts';
import type { ConfigProblem } from './problems.ts';

/** Of a mounted Kubernetes secret every file is a symbolic link, and root's. */
const TERMS: FileTerms = { maxBytes: 65_536, mayBeLink: true, owner: 'any_user' };

/** Mode bit. */
const OTHERS_READ = 0o004;

/** A secret that follows its file: its text, or what the parser of {@link openKeyFile} made of it. */
export interface SecretFile<T = string> {
  /** The last good value. The caller MUST ask each time it needs it and MUST NOT keep or print it. */
  current(): T;
  /** Stops following; `current` keeps answering. */
  close(): void;
}

/**
 * Calls `reread` whenever the file may have changed, until it is stopped; too often does no harm.
 *
 * @returns Stops it.
 */
export type RereadTrigger = (reread: () => void) => () => void;

/** What {@link openSecretFile} needs. */
export interface SecretFileOptions {
  readonly path: string;
  /** The configuration key that names the file; named in problems. */
  readonly key: string;
  /** The key of the Kubernetes secret that the file is; named in problems. */
  readonly secretKey:
    | 'oidc_client_secret'
    | 'oidc_private_key'
    | 'client_secret'
    | 'password'
    | 'ca.crt'
    | 'tls.crt'
    | 'tls.key'
    | 'headers';
  readonly trigger: RereadTrigger;
  /** Hears that a changed file cannot be used, once for each reason; the last good value stays. */
  readonly onProblem: (problem: ConfigProblem) => void;
  /** Hears that the file holds another value now, which is in use from here on. */
  readonly onChange?: (() => void) | undefined;
  /** Hears of white space around a value, once for each value. */
  readonly onWarning: (warning: ConfigProblem) => void;
}

/** What {@link openKeyFile} needs. */
export interface KeyFileOptions<T> extends Omit<SecretFileOptions, 'onWarning'> {
  /** Hears that other users can read the file, where it holds a secret. */
  readonly onWarning?: SecretFileOptions['onWarning'];
  /** Reads the key; what is wrong with it MUST NOT quote any of it. */
  readonly parse: (text: string) => Result<T, KeyFileRefusal>;
}

/** Why a text holds no usable key, in the words of a problem. */
type KeyFileRefusal = Pick<ConfigProblem, 'found' | 'expected'>;

/**
 * Opens a secret file and follows it.
 *
 * The value is the file's text without one newline at its end, because editors and `echo` leave one
 * there; that and any other white space around the value, which is kept, gives a warning. The
 * file is opened by its path each time, so that the symlink swap of a Kubernetes volume is followed.
 * Reads synchronously: the file is small and local.
 *
 * @returns The secret; or the problem when there is none: no file, not readable, not a regular file,
 *   empty, larger than 64 KiB, or not UTF-8.
 */
export function openSecretFile(options: SecretFileOptions): Result<SecretFile, ConfigProblem> {
  const { onWarning } = options;
  warnOfReaders(options, onWarning);
  return follow(options, (text) => {
    warnOfWhiteSpace(text);
    return accept(withoutNewline(text));
  });

  function warnOfWhiteSpace(text: string): void {
    const value = withoutNewline(text);
    const expected = 'the secret alone';
    if (value !== text)
      onWarning(toProblem(options, 'a newline at the end, which is left out', expected));
    if (value !== value.trim())
      onWarning(toProblem(options, 'white space around the secret, which is kept', expected));
  }
}

/**
 * Opens a file that holds a key, reads the key from it and follows the file.
 *
 * As {@link openSecretFile}, but for the white space around a key, which has no meaning. The same
 * value is given until the file's text changes. A changed file without a usable key is a problem, and
 * the last good key stays.
 *
 * @returns The key; or the problem when the file cannot be read or `parse` refuses it.
 */
export function openKeyFile<T>(options: KeyFileOptions<T>): Result<SecretFile<T>, ConfigProblem> {
  if (options.onWarning !== undefined) warnOfReaders(options, options.onWarning);
  return follow(options, options.parse);
}

function warnOfReaders(
  options: Pick<SecretFileOptions, 'path' | 'key' | 'secretKey'>,
  onWarning: SecretFileOptions['onWarning'],
): void {
  const open = findReaders(options.path);
  if (open !== undefined) onWarning(toProblem(options, open.found, open.expected));
}

/**
 * Says of a secret's file that every user of the machine can read it; `undefined` where not. Not of a link: of a mounted
 * Kubernetes Secret every file is one, and its mode is that of a volume that the pod alone has. A group may be meant to
 * read it.
 */
export function findReaders(path: string): Pick<ConfigProblem, 'found' | 'expected'> | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (process.getuid === undefined || stat?.isFile() !== true) return undefined;
  if ((stat.mode & OTHERS_READ) === 0) return undefined;
  const mode = (stat.mode & 0o777).toString(8).padStart(4, '0');
  const found = `a file that every user of this machine can read (mode ${mode})`;
  return { found, expected: `mode 0600 or 0640: chmod o-rwx ${path}` };
}

function follow<T>(
  options: Omit<SecretFileOptions, 'onWarning'>,
  parse: (text: string) => Result<T, KeyFileRefusal>,
): Result<SecretFile<T>, ConfigProblem> {
  const { path, trigger, onProblem, onChange } = options;
  const first = readSecretText(path);
  if (!first.ok) return refuse(toProblem(options, first.error.found));
  const parsed = parse(first.value);
  if (!parsed.ok) return refuse(toProblem(options, parsed.error.found, parsed.error.expected));

  let text = first.value;
  let { value } = parsed;
  let reported: string | undefined;
  const stop = trigger(() => {
    const next = readSecretText(path);
    if (!next.ok) return report(next.error.found);
    if (next.value === text) {
      reported = undefined;
      return;
    }
    const changed = parse(next.value);
    if (!changed.ok) return report(changed.error.found, changed.error.expected);
    reported = undefined;
    text = next.value;
    value = changed.value;
    onChange?.();
  });
  return accept({ current: () => value, close: stop });

  function report(found: string, expected?: string): void {
    if (found !== reported) onProblem(toProblem(options, found, expected));
    reported = found;
  }
}

/**
 * Triggers at an interval; does not keep the process alive.
 *
 * @param intervalMs - Milliseconds between two readings, and so the longest time an old secret is used.
 */
export function rereadEvery(intervalMs: number): RereadTrigger {
  return (reread) => {
    const timer = setInterval(reread, intervalMs);
    timer.unref();
    return () => clearInterval(timer);
  };
}

/** A secret's text without one newline at its end. */
export function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/** Why the text of a secret file cannot be used. */
export interface SecretTextRefusal {
  readonly reason: FileRefusal['reason'] | 'empty' | 'not_text';
  /** Completes "found …". */
  readonly found: string;
  /** What the operating system said. */
  readonly code?: string;
}

/** Reads the text of a secret file, its newline and byte order mark included. */
export function readSecretText(path: string): Result<string, SecretTextRefusal> {
  const read = readBoundedBytes(path, TERMS);
  if (!read.ok) return refuse({ ...read.error, found: describeRefusal(read.error) });
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(read.value);
    return withoutNewline(text) === ''
      ? refuse({ reason: 'empty', found: 'an empty file' })
      : accept(text);
  } catch {
    return refuse({ reason: 'not_text', found: 'a file that is not UTF-8 text' });
  }
}

function describeRefusal({ reason, found, stat, code }: FileRefusal): string {
  if (reason === 'too_large' && stat !== undefined) return `a file of ${stat.size} bytes`;
  return code === 'EACCES' || code === 'EPERM' ? 'a file that may not be read' : found;
}

function toProblem(
  { path, key, secretKey }: Pick<SecretFileOptions, 'path' | 'key' | 'secretKey'>,
  found: string,
  expected = `a file that holds ${secretKey}`,
): ConfigProblem {
  return { file: path, line: undefined, key: `${key} (${secretKey})`, found, expected };
}

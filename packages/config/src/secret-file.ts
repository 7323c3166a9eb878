/**
 * Secrets in files, read again when the file changes.
 *
 * @module
 */

import { readFileSync, statSync } from 'node:fs';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { ConfigProblem } from './problems.ts';

/** Largest secret file, in bytes. */
const SECRET_MAX_BYTES = 65_536;

/** A secret that follows its file. */
export interface SecretFile {
  /** The last good value. The caller MUST ask each time it needs it and MUST NOT keep or print it. */
  current(): string;
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
  /** The configuration key that names the file; told in problems. */
  readonly key: string;
  /** The key of the Kubernetes secret that the file is; told in problems. */
  readonly secretKey: 'oidc_client_secret' | 'client_secret';
  readonly trigger: RereadTrigger;
  /** Hears that a changed file cannot be used, once for each reason; the last good value stays. */
  readonly onProblem: (problem: ConfigProblem) => void;
  /** Hears of white space around a value, once for each value. */
  readonly onWarning: (warning: ConfigProblem) => void;
}

/**
 * Opens a secret file and follows it.
 *
 * The value is the file's text without one newline at its end, because editors and `echo` leave one
 * there; that and any other white space around the value, which is kept, is told as a warning. The
 * file is opened by its path each time, so that the symlink swap of a Kubernetes volume is followed.
 * Reads synchronously: the file is small and local.
 *
 * @returns The secret; or the problem when there is none: no file, not readable, not a regular file,
 *   empty, larger than 64 KiB, or not UTF-8.
 */
export function openSecretFile(options: SecretFileOptions): Result<SecretFile, ConfigProblem> {
  const { path, trigger, onProblem, onWarning } = options;
  const first = readSecret(path);
  if (!first.ok) return refuse(toProblem(options, first.error));

  let text = first.value;
  let reported: string | undefined;
  warnOfWhiteSpace();
  const stop = trigger(() => {
    const next = readSecret(path);
    if (!next.ok) {
      if (next.error !== reported) onProblem(toProblem(options, next.error));
      reported = next.error;
      return;
    }
    reported = undefined;
    if (next.value === text) return;
    text = next.value;
    warnOfWhiteSpace();
  });
  return accept({ current: () => withoutNewline(text), close: stop });

  function warnOfWhiteSpace(): void {
    const value = withoutNewline(text);
    const expected = 'the secret alone';
    if (value !== text)
      onWarning(toProblem(options, 'a newline at the end, which is left out', expected));
    if (value !== value.trim())
      onWarning(toProblem(options, 'white space around the secret, which is kept', expected));
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

function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function readSecret(path: string): Result<string, string> {
  let bytes: Buffer;
  try {
    const { size } = statSync(path);
    if (!statSync(path).isFile()) return refuse('no regular file');
    if (size > SECRET_MAX_BYTES) return refuse(`a file of ${size} bytes`);
    bytes = readFileSync(path);
  } catch (error) {
    return refuse(describeFailure(error));
  }
  if (bytes.length > SECRET_MAX_BYTES) return refuse(`a file of ${bytes.length} bytes`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return withoutNewline(text) === '' ? refuse('an empty file') : accept(text);
  } catch {
    return refuse('a file that is not UTF-8 text');
  }
}

function describeFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'no such file';
    case 'EACCES':
    case 'EPERM':
      return 'a file that may not be read';
    default:
      return typeof code === 'string' ? `a file that cannot be read (${code})` : 'no file';
  }
}

function toProblem(
  { path, key, secretKey }: SecretFileOptions,
  found: string,
  expected = `a file that holds ${secretKey}`,
): ConfigProblem {
  return { file: path, line: undefined, key: `${key} (${secretKey})`, found, expected };
}

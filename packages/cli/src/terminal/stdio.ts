/**
 * The streams and exit codes of a command: lines for people, JSON for programs, failures as sentences.
 *
 * @module
 */

import { withoutUnprintable } from '@sallyport/protocol';

/** Where a command writes, and whether a person reads it. */
export interface Stdio {
  /** Data: what a script reads. */
  readonly out: (line: string) => void;
  /**
   * Talk: what a person reads. Paths, keys and words of others may be in it, so nothing but line
   * feeds gets through that moves the cursor, hides or reorders text.
   */
  readonly error: (line: string) => void;
  /** Whether stdout is a terminal. */
  readonly isTerminal: boolean;
  /**
   * Whether a person can be asked: stdin and stderr are a terminal. stdout may be a pipe, as in
   * `$(sallyport token)`.
   */
  readonly isInteractive: boolean;
  /** Takes a secret out of all talk from now on: a server may repeat what it was sent. */
  readonly conceal: (secret: string) => void;
  /** The text without what is concealed, for data that is not meant to hold a secret. */
  readonly cleanse: (text: string) => string;
}

/** Shorter texts are words, and taking them out would only garble. */
const SECRET_MIN_LENGTH = 8;

/** Exit codes, documented in docs/commands.md and docs/cli.md. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** A person has to sign in, and this command cannot ask one to. */
  loginNeeded: 4,
  /** Platform or identity provider cannot be reached. */
  unreachable: 5,
  interrupted: 130,
} as const;

/** What `--help` says about them. */
export const EXIT_CODES_HELP: string = `
Exit codes:
  0  done              4  sign-in needed
  1  failed            5  platform or identity provider not reachable
  2  wrong usage     130  interrupted`;

/** The process's own streams. A reader that goes away early is no failure. */
export function createStdio(): Stdio {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const concealed = new Set<string>();
  const cleanse = (text: string): string =>
    [...concealed].reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
  return {
    out: (line) => process.stdout.write(`${line}\n`),
    error: (line) => process.stderr.write(`${toPrintableLines(cleanse(line))}\n`),
    isTerminal: process.stdout.isTTY,
    cleanse,
    conceal(secret) {
      if (secret.length >= SECRET_MIN_LENGTH) concealed.add(secret);
    },
    isInteractive: process.stdin.isTTY && process.stderr.isTTY,
  };
}

function toPrintableLines(text: string): string {
  return text.split('\n').map(withoutUnprintable).join('\n');
}

/**
 * The streams and exit codes of a command: lines for people, JSON for programs, failures as sentences.
 *
 * @module
 */

import { fstatSync, writeSync } from 'node:fs';
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

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
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
  const concealed = new Set<string>();
  const cleanse = (text: string): string =>
    [...concealed].reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
  const write = createStdoutWriter();
  return {
    out: (line) => write(`${line}\n`),
    error: (line) => process.stderr.write(`${toPrintableLines(cleanse(line))}\n`),
    get isTerminal() {
      return mayBeTerminal(STDOUT) && process.stdout.isTTY;
    },
    cleanse,
    conceal(secret) {
      if (secret.length >= SECRET_MIN_LENGTH) concealed.add(secret);
    },
    get isInteractive() {
      return (
        mayBeTerminal(STDIN) && mayBeTerminal(STDERR) && process.stdin.isTTY && process.stderr.isTTY
      );
    },
  };
}

/**
 * Writes to stdout without opening it as a stream, which would be a fifth of what `sallyport --help` does. The stream
 * is for what a plain write cannot do: wait for a full pipe, outlive a reader, and put text on a Windows console.
 */
function createStdoutWriter(): (text: string) => void {
  let isStream = false;
  const openStream = (): void => {
    isStream = true;
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  };
  if (process.platform === 'win32') openStream();
  return (text) => {
    let rest = Buffer.from(text);
    if (!isStream)
      try {
        while (rest.length > 0) rest = rest.subarray(writeSync(STDOUT, rest));
        return;
      } catch {
        openStream();
      }
    process.stdout.write(rest);
  };
}

/** Pipes, sockets and files are no terminals: for these no stream has to be opened to find out. */
function mayBeTerminal(descriptor: number): boolean {
  return process.platform === 'win32' || fstatSync(descriptor).isCharacterDevice();
}

function toPrintableLines(text: string): string {
  return text.split('\n').map(withoutUnprintable).join('\n');
}

/**
 * How a command speaks: lines for people, JSON for programs, failures as sentences.
 *
 * @module
 */

/** Where a command writes, and whether a person reads it. */
export interface Stdio {
  readonly out: (line: string) => void;
  readonly error: (line: string) => void;
  /** Whether stdout is a terminal. */
  readonly isTerminal: boolean;
}

/** Exit codes, documented in docs/commands.md. */
export const EXIT = { ok: 0, failure: 1, usage: 2, interrupted: 130 } as const;

/** The process's own streams. */
export function createStdio(): Stdio {
  return {
    out: (line) => process.stdout.write(`${line}\n`),
    error: (line) => process.stderr.write(`${line}\n`),
    isTerminal: process.stdout.isTTY,
  };
}

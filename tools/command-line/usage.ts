/**
 * What the tools of the repository answer to a command line that they cannot follow.
 *
 * @module
 */

import { existsSync } from 'node:fs';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** Wrong options, or a file that is not there. The message is one sentence for the person who typed it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Reads the options of this process, `--help` included.
 *
 * Ends the process with 2 and a sentence for an option that is unknown, lacks its value or stands beside words
 * that are none, and with 0 and the usage for `--help`.
 */
export function readOptions<const T extends ParseArgsOptionsConfig>(
  usage: string,
  options: T,
): ReturnType<typeof parseArgs<{ options: T }>>['values'] {
  if (process.argv.slice(2).includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  return orExit(usage, () => {
    try {
      return parseArgs({ options }).values;
    } catch (error) {
      throw new UsageError(error instanceof Error ? error.message : String(error));
    }
  });
}

/** Runs a check of the command line; a {@link UsageError} ends the process with 2, its sentence and the usage. */
export function orExit<T>(usage: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}

/** Checks that a file is there. @throws {UsageError} When it is not. */
export function requireFile(file: string, advice: string): void {
  if (!existsSync(file)) throw new UsageError(`${file} is missing: ${advice}`);
}

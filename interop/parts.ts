/**
 * Finds the programs the interoperability tests run against.
 *
 * @module
 */

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where servers lie on systems whose ordinary users do not have them on their PATH. */
const SERVER_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** A program that may be installed. */
export interface Part {
  readonly name: string;
  /** `undefined` where it is not installed. */
  readonly path: string | undefined;
  /** Why it is missing; said by {@link requirePart}. */
  readonly missingBecause: string;
  /**
   * Whether to leave its suites out, by name: it is missing, and this is not CI, where a missing part
   * is a failure.
   */
  readonly isLeftOut: boolean;
}

/**
 * Looks for a program.
 *
 * @param name - File name, as on the PATH.
 */
export function findPart(name: string): Part {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...SERVER_FOLDERS];
  return partAt(name, folders.map((folder) => join(folder, name)).find(isProgram));
}

/**
 * The part at a path, or a missing one.
 *
 * @param missingBecause - For parts that are not looked for on the PATH.
 */
export function partAt(
  name: string,
  path: string | undefined,
  missingBecause = 'it is not on PATH',
): Part {
  const isLeftOut = path === undefined && process.env['CI'] !== 'true';
  return { name, path, missingBecause, isLeftOut };
}

/**
 * Gives the path of a program that has to be there.
 *
 * @throws When it is not installed.
 */
export function requirePart({ name, path, missingBecause }: Part): string {
  if (path === undefined) throw new Error(`${name} is missing: ${missingBecause}`);
  return path;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

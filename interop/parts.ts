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
  const path = folders.map((folder) => join(folder, name)).find(isProgram);
  return { name, path, isLeftOut: path === undefined && process.env['CI'] !== 'true' };
}

/**
 * Gives the path of a program that has to be there.
 *
 * @throws When it is not installed.
 */
export function requirePart({ name, path }: Part): string {
  if (path === undefined) throw new Error(`${name} is missing: it is not on PATH`);
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

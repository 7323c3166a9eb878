/**
 * Where a build reads and writes.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Manifest } from './packed-manifest.ts';

/** Root of the checkout. */
export const CHECKOUT: string = fileURLToPath(new URL('../..', import.meta.url));

/** Folder of everything that a build makes, unless another is given. Git ignores it. */
export const OUTPUT: string = fileURLToPath(new URL('../../dist', import.meta.url));

/** The command's package, below the checkout and below the output. */
export const COMMAND_FOLDER = 'packages/cli';

/** Published libraries. The command's bundle carries these and the private packages. */
export const LIBRARY_FOLDERS: readonly string[] = [
  'packages/protocol',
  'packages/kubernetes',
  'packages/config',
  'packages/client',
  'packages/server',
];

/** Everything that is published, in the order in which one needs the other. */
export const PUBLISHED_FOLDERS: readonly string[] = [...LIBRARY_FOLDERS, COMMAND_FOLDER];

/** Reads the package.json of a folder below the checkout. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(CHECKOUT, folder, 'package.json'), 'utf8')) as Manifest;
}

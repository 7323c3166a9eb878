/**
 * What `npm run build` makes, outside the checkout.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../conformance/wire/process.ts';

const BUILD = new URL('../../tools/build.ts', import.meta.url).pathname;

/** The folder of one build. */
export interface BuiltPackages {
  readonly folder: string;
  /** The command's file in the package `sallyport`. */
  readonly command: string;
  remove(): void;
}

/** Builds into a folder of its own. */
export async function buildPackages(): Promise<BuiltPackages> {
  const { path: folder, remove } = temporaryFolder();
  await promisify(execFile)(process.execPath, [BUILD, '--out', folder]);
  return { folder, command: join(folder, 'packages/cli/bin/sallyport.js'), remove };
}

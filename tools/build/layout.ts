/**
 * Where a build reads and writes.
 *
 * @module
 */

import { fileURLToPath } from 'node:url';

/** Root of the checkout. */
export const CHECKOUT: string = fileURLToPath(new URL('../..', import.meta.url));

/** Folder of everything that a build makes, unless another is given. Git ignores it. */
export const OUTPUT: string = fileURLToPath(new URL('../../dist', import.meta.url));

/** The command's package, below the checkout and below the output. */
export const COMMAND_FOLDER = 'packages/cli';

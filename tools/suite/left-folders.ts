/**
 * Removes what killed test runs left in memory, before the tests of a project begin.
 *
 * @module
 */

import { removeLeftFolders } from '@sallyport/testing/files/memory-folder';

/** Where the tests make folders in memory (Linux). */
const MEMORY = '/dev/shm';

/** Vitest calls it by this name (`globalSetup`). */
export function setup(): void {
  removeLeftFolders(MEMORY);
}

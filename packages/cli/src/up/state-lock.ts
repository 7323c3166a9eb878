/**
 * One plane per state folder.
 *
 * @module
 */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SallyportError } from '@sallyport/protocol';

const FILE = 'up.lock';

/**
 * Takes a state folder for this process. The lock is the operating system's, through an exclusive
 * transaction that is never ended: it goes with the process, however that ends.
 *
 * @returns How to give it back.
 * @throws {SallyportError} `SP_STATE_IN_USE` when another process has it.
 */
export function lockState(stateDirectory: string): () => void {
  const database = new DatabaseSync(join(stateDirectory, FILE));
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw new SallyportError('SP_STATE_IN_USE', {
      component: stateDirectory,
      detail: 'another sallyport up has this state folder; stop it, or choose another with --state',
      cause,
    });
  }
  return () => database.close();
}

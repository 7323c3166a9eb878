/**
 * A folder for as long as some work takes.
 *
 * @module
 */

import { temporaryFolder } from '../../conformance/wire/process.ts';

/** Does something with a folder that is gone afterwards, also when this process ends before. */
export async function inWorkFolder<T>(work: (path: string) => Promise<T>): Promise<T> {
  const folder = temporaryFolder();
  const remove = () => folder.remove();
  process.once('exit', remove);
  try {
    return await work(folder.path);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

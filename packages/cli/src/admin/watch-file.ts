/**
 * Watching a file that an editor, a deployment tool or a mounted volume may exchange.
 *
 * @module
 */

import { readFileVersion } from '@sallyport/config/files';
import type { Schedule } from '@sallyport/server';

/** What {@link watchFile} needs. */
export interface FileWatch {
  readonly path: string;
  readonly schedule: Schedule;
  /** Called when the file has become another one, and has stayed as it is for a second. */
  readonly onChange: () => void;
  /** How it looked when it was read, if that is known: a change since then is reported, too. */
  readonly known?: string | undefined;
  /** Describes the file as it is now; by default by what the file system says of it. */
  readonly look?: (path: string) => string;
}

const LOOK_EVERY_MS = 1_000;

/**
 * Watches a file by looking at it every second: the notices of the operating system get lost with the
 * symbolic links of a Kubernetes volume, on network file systems and when a file is replaced. What is
 * still being written looks different each time, and is left alone until it does not.
 *
 * @returns Stops watching.
 */
export function watchFile({
  path,
  schedule,
  onChange,
  look = describeFile,
  known: before = look(path),
}: FileWatch): () => void {
  let known = before;
  let last = known;
  let isStopped = false;
  let cancel = schedule(LOOK_EVERY_MS, lookAgain);
  return () => {
    isStopped = true;
    cancel();
  };

  function lookAgain(): void {
    const now = look(path);
    const isSettled = now === last;
    last = now;
    if (isSettled && now !== known) {
      known = now;
      onChange();
    }
    if (!isStopped) cancel = schedule(LOOK_EVERY_MS, lookAgain);
  }
}

/**
 * Describes a file by what the file system says of it; follows symbolic links. A file that cannot be found
 * is described, too: it is a change.
 */
export function describeFile(path: string): string {
  try {
    return readFileVersion(path) ?? 'ENOENT';
  } catch (cause) {
    return cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  }
}

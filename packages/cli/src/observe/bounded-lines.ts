/**
 * Lines to a stream that somebody else reads, or does not.
 *
 * @module
 */

import type { Writable } from 'node:stream';

/** Takes lines. */
export interface LineDestination {
  write(line: string): void;
}

/** Bytes that wait in the stream while nobody reads it; what comes then is counted and left out. */
const WAITING_MAX = 4 * 1024 * 1024;

/**
 * Bounds what waits in memory when a log is written faster than it is read.
 *
 * @param onLeftOut - Told how many lines were left out, before the first that has room again; may write one.
 */
export function boundLines(
  stream: Pick<Writable, 'write' | 'writableLength'>,
  onLeftOut: (lines: number) => void,
): LineDestination {
  let leftOut = 0;
  return {
    write(line) {
      if (stream.writableLength + line.length > WAITING_MAX) {
        leftOut += 1;
        return;
      }
      if (leftOut > 0) {
        const lines = leftOut;
        leftOut = 0;
        onLeftOut(lines);
      }
      stream.write(line);
    },
  };
}

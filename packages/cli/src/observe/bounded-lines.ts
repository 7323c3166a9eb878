/**
 * Bounded lines to a stream whose reader may be slow or absent.
 *
 * @module
 */

import type { Writable } from 'node:stream';

/** Takes lines. */
export interface LineDestination {
  write(line: string): void;
}

/** Bytes that may wait in the stream without being read; further lines are counted and left out. */
const WAITING_MAX = 4 * 1024 * 1024;

/**
 * Bounds what waits in memory when a log is written faster than it is read.
 *
 * @param onLeftOut - Called with the number of lines left out, before the first line that has room again; may write a line.
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

/**
 * Progress of reading sessions, on a terminal, once it takes noticeably long.
 *
 * @module
 */

import { type LineOutput, startWaiting, type WaitingLine } from '../terminal/waiting-line.ts';

/** A line that is redrawn. */
export interface Progress {
  /** Says how many sessions were read. */
  readonly count: (sessions: number) => void;
  /** Takes the line away; a later count shows it again. */
  readonly clear: () => void;
}

const SHOWN_AFTER_MS = 400;

/**
 * Shows nothing elsewhere than on a terminal, and nothing of what is done at once.
 *
 * @param now - Epoch milliseconds.
 */
export function createProgress(output: LineOutput, now: () => number): Progress {
  const shownFrom = now() + SHOWN_AFTER_MS;
  let line: WaitingLine | undefined;
  return {
    count(sessions) {
      if (output.isTTY !== true || now() < shownFrom) return;
      const text = `reading sessions: ${sessions.toLocaleString('en-US')}`;
      if (line === undefined) line = startWaiting(output, text);
      else line.update(text);
    },
    clear() {
      line?.end();
      line = undefined;
    },
  };
}

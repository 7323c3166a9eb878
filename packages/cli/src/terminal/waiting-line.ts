/**
 * One line that says what is waited for: redrawn on a terminal, written once elsewhere.
 *
 * @module
 */

import { wrapLine } from './wrap-line.ts';

/** As much of stderr as is needed. */
export interface LineOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A line that stays until it is ended. */
export interface WaitingLine {
  /** Writes lines above it. */
  say(lines: readonly string[]): void;
  /** Replaces its text. */
  update(text: string): void;
  /** Takes it away. */
  end(): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 120;
/** Where the terminal does not give its width. */
const COLUMNS = 80;
/** To the start of the line, and erase it. */
const CLEAR = '\r\u001b[2K';
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

/**
 * Shows the line. It reads no keys and handles no signal: the caller does.
 *
 * @param text - Must fit a line; it is cut to the terminal's width.
 */
export function startWaiting(output: LineOutput, text: string): WaitingLine {
  if (output.isTTY !== true) {
    output.write(`${text}\n`);
    return {
      say: (lines) => output.write(lines.map((line) => `${line}\n`).join('')),
      update: (next) => output.write(`${next}\n`),
      end: () => {},
    };
  }
  let current = text;
  let frame = 0;
  const columns = (): number => output.columns || COLUMNS;
  const draw = (): void => {
    const width = columns() - 3;
    output.write(`${CLEAR}${FRAMES[frame % FRAMES.length]} ${current.slice(0, width)}`);
  };
  output.write(HIDE_CURSOR);
  draw();
  const timer = setInterval(() => {
    frame += 1;
    draw();
  }, FRAME_MS);
  let hasEnded = false;
  return {
    say(lines) {
      const wrapped = lines.map((line) => `${wrapLine(line, columns())}\n`);
      output.write(`${CLEAR}${wrapped.join('')}`);
      if (!hasEnded) draw();
    },
    update(next) {
      current = next;
      if (!hasEnded) draw();
    },
    end() {
      if (hasEnded) return;
      hasEnded = true;
      clearInterval(timer);
      output.write(`${CLEAR}${SHOW_CURSOR}`);
    },
  };
}

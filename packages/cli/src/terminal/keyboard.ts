/**
 * Keys and pasted text while something else is waited for.
 *
 * @module
 */

/** As much of a terminal's input as is read. */
export interface KeyboardInput {
  setRawMode(isRaw: boolean): unknown;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** What is done with keys. */
export interface KeyboardListeners {
  /** A single key, pressed while no line is being written; lower case. */
  readonly onKey: (key: string) => void;
  /** A line that was written or pasted, without its end. */
  readonly onLine: (line: string) => void;
  /** Ctrl-C. In raw mode the terminal does not send the signal itself. */
  readonly onInterrupt: () => void;
}

const CTRL_C = '\u0003';
const BACKSPACES = new Set(['\u007f', '\b']);
const LINE_MAX_LENGTH = 8_192;
/** Terminals may mark a paste; the marks are no part of it. */
// oxlint-disable-next-line no-control-regex -- the marks begin with one
const PASTE_MARKS = /\u001b\[20[01]~/g;

/**
 * Reads keys in raw mode, so that one key suffices and nothing pasted is shown: a pasted address
 * holds a code.
 *
 * @returns Ends it and gives the terminal back as it was. May be called more than once.
 */
export function readKeyboard(
  input: KeyboardInput,
  { onKey, onLine, onInterrupt }: KeyboardListeners,
): () => void {
  let line = '';
  let isOpen = true;
  const take = (text: string): void => {
    for (const character of text) {
      if (!isOpen) return;
      if (character === CTRL_C) onInterrupt();
      else if (character === '\r' || character === '\n') {
        const written = line.trim();
        line = '';
        if (written !== '') onLine(written);
      } else if (BACKSPACES.has(character)) line = line.slice(0, -1);
      else if (character >= ' ' && line.length < LINE_MAX_LENGTH) line += character;
    }
  };
  const onData = (chunk: Buffer): void => {
    const text = chunk.toString('utf8').replace(PASTE_MARKS, '');
    // A paste arrives as one chunk of many characters, a key press as a chunk of its own.
    if (line === '' && /^[a-z]$/i.test(text)) onKey(text.toLowerCase());
    else take(text);
    // A pasted address is complete without Enter: nothing follows in its chunk.
    if (isOpen && text.length > 8 && /^https?:\/\/\S+[?&]\S+$/.test(line)) take('\n');
  };
  input.setRawMode(true);
  input.on('data', onData);
  input.resume();
  return () => {
    if (!isOpen) return;
    isOpen = false;
    input.off('data', onData);
    input.setRawMode(false);
    input.pause();
  };
}

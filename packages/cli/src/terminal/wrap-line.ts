/**
 * Sentences on a terminal, broken between words.
 *
 * @module
 */

/**
 * Breaks a line between words; what follows keeps its indentation. A word that is longer than a line,
 * such as an address, stays whole for copying.
 *
 * @param columns - Width of the terminal.
 */
export function wrapLine(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const indentation = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let current = '';
  for (const word of line.slice(indentation.length).split(' ')) {
    const isFirst = current === '';
    const longer = isFirst ? indentation + word : `${current} ${word}`;
    if (isFirst || longer.length <= columns) current = longer;
    else {
      lines.push(current);
      current = indentation + word;
    }
  }
  return [...lines, current].join('\n');
}

/** The part of a stream that gives its width. */
export interface Width {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Breaks the talk's lines as wide as the terminal is when they are said; elsewhere each stays one line. */
export function wrapTalk(say: (line: string) => void, output: Width): (line: string) => void {
  return (text) => {
    if (output.isTTY !== true || !output.columns) return say(text);
    const { columns } = output;
    say(
      text
        .split('\n')
        .map((line) => wrapLine(line, columns))
        .join('\n'),
    );
  };
}

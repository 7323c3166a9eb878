/**
 * A program and its arguments.
 *
 * @module
 */

import { type Kind, listKind } from './kind.ts';
import { textKind } from './text.ts';

const argumentKind: Kind<string> = textKind({
  name: 'string',
  expected: 'a program or argument',
});

/**
 * A program and its arguments, as a list. In an environment variable or flag it is a JSON array, or
 * words in the quoting of a POSIX shell; nothing is expanded, and no shell ever sees it.
 */
export const commandKind: Kind<readonly string[]> = {
  ...listKind(argumentKind, 'a program and its arguments'),
  expected: 'a list of a program and its arguments',
  fromText: (text) => (text.trimStart().startsWith('[') ? parseJson(text) : splitWords(text)),
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const WORD = /(?:[^\s\\'"]|\\[^\n]|'[^']*'|"(?:[^"\\]|\\[^\n])*")+/y;

/** Text that is not quoted soundly stays text, which is no list. */
function splitWords(text: string): unknown {
  const words: string[] = [];
  let offset = 0;
  for (;;) {
    while (/\s/.test(text[offset] ?? '')) offset += 1;
    if (offset >= text.length) return words;
    WORD.lastIndex = offset;
    const word = WORD.exec(text)?.[0];
    if (word === undefined) return text;
    const end = offset + word.length;
    if (end < text.length && !/\s/.test(text[end] ?? '')) return text;
    words.push(unquote(word));
    offset = end;
  }
}

function unquote(word: string): string {
  return word.replaceAll(
    /\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"/gs,
    (_, escaped?: string, single?: string, double?: string) =>
      escaped ?? single ?? (double ?? '').replaceAll(/\\(["\\$`])/g, '$1'),
  );
}

/**
 * JSON that may be looked at on a terminal.
 *
 * @module
 */

import { withoutUnprintable } from '@sallyport/protocol';

/**
 * Writes a value as JSON on one line. Characters that move the cursor, hide or reorder text are
 * escaped, so that a parser reads exactly what was stored and a terminal obeys none of it.
 */
export function writeHarmlessJson(value: unknown): string {
  // Beside ASCII, JSON has such characters in strings alone, where an escape means the same.
  return JSON.stringify(value).replaceAll(/[^ -~]/gu, (character) =>
    withoutUnprintable(character) === character ? character : escapeUnits(character),
  );
}

function escapeUnits(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

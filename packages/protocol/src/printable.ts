/**
 * Text of others, made fit to stand in a line.
 *
 * @module
 */

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/**
 * Puts a blank in the place of every character that moves the cursor, ends the line, hides or
 * reorders text: control characters, escape sequences by their first character, bidirectional and
 * other invisible marks, unassigned code points. Half a surrogate pair becomes U+FFFD.
 *
 * Cuts nothing, and says nothing about meaning: words that lie stay as they are.
 *
 * @param text - Untrusted.
 */
export function withoutUnprintable(text: string): string {
  return text.toWellFormed().replaceAll(UNPRINTABLE, ' ');
}

/** Everything but printable ASCII; most texts have none of it. */
const BEYOND_ASCII = /[^ -~]/gu;

/**
 * Escapes, in a JSON text of one line, what {@link withoutUnprintable} would remove: a parser reads
 * exactly what was written, and a terminal obeys none of it.
 *
 * @param json - As `JSON.stringify` writes it without indentation: beside ASCII it has such characters in
 *   strings alone, where an escape means the same.
 */
export function escapeUnprintable(json: string): string {
  return json.replaceAll(BEYOND_ASCII, (character) =>
    withoutUnprintable(character) === character ? character : escapeUnits(character),
  );
}

function escapeUnits(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

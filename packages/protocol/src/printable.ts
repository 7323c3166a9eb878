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

/**
 * Text of a server, made fit to be shown.
 *
 * @module
 */

import { withoutUnprintable } from '@sallyport/protocol';

/**
 * Makes untrusted text one short printable line: control characters, bidirectional marks and other
 * invisible ones become blanks, and the rest is cut.
 */
export function toPrintable(text: string, maxLength = 300): string {
  const line = withoutUnprintable(text.slice(0, maxLength * 4))
    .replaceAll(/\s+/g, ' ')
    .trim();
  const characters = Array.from(line);
  return characters.length > maxLength ? `${characters.slice(0, maxLength).join('')}…` : line;
}

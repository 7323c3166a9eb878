/**
 * How much room text takes on a terminal, and text cut to the room there is.
 *
 * @module
 */

import { withoutUnprintable } from '@sallyport/protocol';

const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}])/u;
const ZERO = /^\p{M}/u;
/** More marks on one letter than any script has only smear over the lines around. */
const MARKS_MAX = 3;
const CUT = '…';
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Makes text of others fit to stand in a table: nothing in it moves the cursor, hides or reorders
 * text, stands in its neighbours' lines, or leaves a blank at its ends.
 *
 * @param text - Untrusted.
 */
export function toCell(text: string): string {
  const printable = withoutUnprintable(text).replaceAll(/\s+/gu, ' ').trim();
  return graphemes(printable)
    .map((grapheme) =>
      Array.from(grapheme)
        .slice(0, 1 + MARKS_MAX)
        .join(''),
    )
    .join('');
}

/** Columns that text takes: two for a wide character, none for a mark. */
export function displayWidth(text: string): number {
  return graphemes(text).reduce((sum, grapheme) => sum + widthOf(grapheme), 0);
}

/**
 * Cuts text to so many columns, with `…` in the place of its end, or of its middle.
 *
 * @param columns - At least 1.
 */
export function cutTo(text: string, columns: number, where: 'end' | 'middle' = 'end'): string {
  if (displayWidth(text) <= columns) return text;
  const all = graphemes(text);
  const room = columns - 1;
  const tailRoom = where === 'middle' ? Math.floor(room / 2) : 0;
  const head = takeWhileFits(all, room - tailRoom);
  const tail = takeWhileFits(all.toReversed(), tailRoom).toReversed();
  return `${head.join('')}${CUT}${tail.join('')}`;
}

/** Adds blanks up to so many columns. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

function takeWhileFits(all: readonly string[], room: number): string[] {
  const taken: string[] = [];
  let width = 0;
  for (const grapheme of all) {
    width += widthOf(grapheme);
    if (width > room) break;
    taken.push(grapheme);
  }
  return taken;
}

function widthOf(grapheme: string): number {
  if (ZERO.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

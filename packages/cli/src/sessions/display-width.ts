/**
 * Text in columns of a terminal: how many it takes, cut and padded to a number of them.
 *
 * @module
 */

import { withoutUnprintable } from '@sallyport/protocol';
import stringWidth from 'string-width';

/** No script has more marks on a letter; more of them would cover the lines around. */
const MARKS_MAX = 3;
const CUT = '…';
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Makes untrusted text safe for a table cell: nothing in it moves the cursor, hides or reorders text, or covers
 * the lines around it, and no blank stands at its ends.
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

/** Columns that text takes: two for a wide character, none for a mark. Text must be printable. */
export function displayWidth(text: string): number {
  return stringWidth(text);
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
    width += displayWidth(grapheme);
    if (width > room) break;
    taken.push(grapheme);
  }
  return taken;
}

function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

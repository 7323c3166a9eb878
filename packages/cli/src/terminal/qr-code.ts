/**
 * An address as a QR code for a telephone's camera.
 *
 * @module
 */

import { renderUnicodeCompact } from 'uqr';

/** Quiet zone that cameras need around the code. */
const BORDER = 2;

/**
 * Draws the code in half blocks, light on dark as terminals are.
 *
 * @param columns - Width of the terminal.
 *
 * @returns Lines, or `undefined` when the code is wider than the terminal: a wrapped one is noise.
 */
export function drawQrCode(url: string, columns: number): readonly string[] | undefined {
  const lines = renderUnicodeCompact(url, { border: BORDER }).split('\n');
  const width = Math.max(...lines.map((line) => Array.from(line).length));
  return width > columns ? undefined : lines;
}

/**
 * JSON that may be looked at on a terminal.
 *
 * @module
 */

import { escapeUnprintable } from '@sallyport/protocol';

/**
 * Writes a value as JSON on one line. Characters that move the cursor, hide or reorder text are
 * escaped, so that a parser reads exactly what was stored and a terminal obeys none of it.
 */
export function writeHarmlessJson(value: unknown): string {
  return escapeUnprintable(JSON.stringify(value));
}

/**
 * Two issuers that should be one, side by side.
 *
 * @module
 */

import { withoutUnprintable } from '@sallyport/protocol';

const SHOWN_MAX_LENGTH = 200;

/** Whether two issuers differ in nothing but a slash at the end: the usual mistake, and hard to see. */
export function differInLastSlash(one: string, other: unknown): boolean {
  return typeof other === 'string' && (other === `${one}/` || one === `${other}/`);
}

/**
 * Says what is configured and what was found.
 *
 * @param found - Untrusted, of any type.
 *
 * @see [RFC 8414 section 3.3](https://www.rfc-editor.org/rfc/rfc8414#section-3.3) identical issuer
 */
export function describeIssuers(configured: string, found: unknown): string {
  const values = `configured ${configured}, found ${showFound(found)}`;
  return differInLastSlash(configured, found)
    ? `${values}: they differ in the slash at the end alone, configure the one that was found`
    : `${values}: both have to be the same, character by character`;
}

/** A value from outside in a line: as it is where it is one printable word, else in quotes. */
export function showFound(found: unknown): string {
  if (found === undefined) return 'none';
  const text = typeof found === 'string' ? found : '';
  const shown = /^[\x21-\x7e]+$/.test(text) ? text : JSON.stringify(found);
  return withoutUnprintable(shown.slice(0, SHOWN_MAX_LENGTH));
}

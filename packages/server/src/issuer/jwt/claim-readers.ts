/**
 * Readers of claims that come in more than one shape.
 *
 * @module
 */

import type { JsonValue } from '@sallyport/protocol';
import type { JsonObject } from './strict-json.ts';

/** Tolerated difference between the clocks of two machines. */
export const CLOCK_TOLERANCE_SECONDS = 30;
/** 9999-12-31: beyond it a number is not a date but an attempt at an overflow. */
const LATEST_SECONDS = 253_402_300_799;

/** Reads `aud`: one text or a list of them; `undefined` when it is anything else or empty. */
export function readAudiences(claim: JsonValue | undefined): readonly string[] | undefined {
  const list = typeof claim === 'string' ? [claim] : claim;
  return Array.isArray(list) && list.length > 0 && list.every(isText) ? list : undefined;
}

/**
 * Reads scopes: a text of words between blanks (RFC 6749 section 3.3), or a list of such texts, in
 * any of the named claims. A claim of any other shape gives none.
 *
 * @see [RFC 9068 section 2.2.3](https://www.rfc-editor.org/rfc/rfc9068#section-2.2.3) `scope`
 */
export function readScopes(claims: JsonObject, names: readonly string[]): ReadonlySet<string> {
  const scopes = new Set<string>();
  for (const name of names) {
    const claim = claims[name];
    const list = typeof claim === 'string' ? [claim] : claim;
    if (!Array.isArray(list) || !list.every(isText)) continue;
    for (const text of list) for (const word of text.split(' ')) if (word !== '') scopes.add(word);
  }
  return scopes;
}

/** Reads the client id from the first of the named claims that is there as a text. */
export function readClientId(claims: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = claims[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

/** Whether a claim is a NumericDate of any time from 1970 to the year 9999 (RFC 7519 section 2). */
export function isTime(value: unknown): value is number {
  return (
    typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= LATEST_SECONDS
  );
}

/**
 * Reads a NumericDate in whole seconds, within the bounds of {@link isTime}.
 *
 * RFC 7519 allows fractions; no known authorization server writes any in access tokens, and two readers
 * cannot round a whole number differently.
 */
export function readTime(claim: JsonValue | undefined): number | undefined {
  return isTime(claim) && Number.isInteger(claim) ? claim : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/**
 * How long a server asks a client to wait.
 *
 * @module
 */

/** More seconds than this are not waited for, whatever a server asks. */
export const RETRY_AFTER_MOST_SECONDS = 300;
/** Seconds to wait for a server that does not say. */
const RETRY_AFTER_DEFAULT_SECONDS = 5;

/** The three forms of an HTTP date (RFC 9110 section 5.6.7); the last one names no zone. */
const FIXED_DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4}|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2}) \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Reads `Retry-After`: whole seconds, or an HTTP date, which is compared with the answer's own `Date`, so that a
 * clock that differs does not matter; without that header, with the clock.
 *
 * @param now - Epoch milliseconds.
 * @returns Seconds, 0 to 300; 5 without the header, and for one that is neither form.
 *
 * @see [RFC 9110 section 10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)
 */
export function readRetryAfter(headers: Headers | undefined, now: () => number = Date.now): number {
  const text = headers?.get('retry-after') ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text), RETRY_AFTER_MOST_SECONDS);
  const at = parseHttpDate(text);
  if (at === undefined) return RETRY_AFTER_DEFAULT_SECONDS;
  const seconds = Math.ceil((at - (parseHttpDate(headers?.get('date') ?? '') ?? now())) / 1_000);
  return Math.min(Math.max(seconds, 0), RETRY_AFTER_MOST_SECONDS);
}

/** Epoch milliseconds. */
function parseHttpDate(text: string): number | undefined {
  const isAsctime = ASCTIME_DATE.test(text);
  if (!isAsctime && !FIXED_DATE.test(text)) return undefined;
  const at = Date.parse(isAsctime ? `${text} GMT` : text);
  return Number.isNaN(at) ? undefined : at;
}

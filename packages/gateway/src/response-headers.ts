/**
 * Headers of a backend's answer that a client gets.
 *
 * @module
 */

import { type HeaderPair, selectEndToEndHeaders, selectUnsharedHeaders } from '@sallyport/protocol';

/**
 * Selects the response headers to send on.
 *
 * @param rawHeaders - The backend's, flat. A backend is trusted to say what it likes end to end.
 * @param setCookie - The session's slide, appended whatever the backend's status. No shared cache may
 *   keep such an answer: see `selectUnsharedHeaders`.
 */
export function selectClientHeaders(
  rawHeaders: readonly string[],
  setCookie: string | undefined,
): HeaderPair[] {
  const headers = selectEndToEndHeaders(rawHeaders);
  if (setCookie === undefined) return headers;
  return [...selectUnsharedHeaders(headers), ['set-cookie', setCookie]];
}

/** Flattens what undici parsed into Node's flat list; a repeated name comes as an array. */
export function flattenHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string[] {
  const flat: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') flat.push(name, value);
    else for (const each of value ?? []) flat.push(name, each);
  }
  return flat;
}

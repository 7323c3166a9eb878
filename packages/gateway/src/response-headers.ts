/**
 * What a client is told of a backend's answer.
 *
 * @module
 */

import { type HeaderPair, selectEndToEndHeaders } from '@sallyport/protocol';

const SHARED_CACHE_DIRECTIVE = /^(?:public|s-maxage\s*=.*|proxy-revalidate)$/i;
const UNSHARED_DIRECTIVE = /^(?:private|no-store)$/i;

/**
 * Selects the response headers to send on.
 *
 * @param rawHeaders - The backend's, flat. A backend is trusted to say what it likes end to end.
 * @param setCookie - The session's slide, appended whatever the backend's status. No shared cache may
 *   keep such an answer, so `public` and `s-maxage` give way to `private`.
 */
export function selectClientHeaders(
  rawHeaders: readonly string[],
  setCookie: string | undefined,
): HeaderPair[] {
  const headers = selectEndToEndHeaders(rawHeaders);
  return setCookie === undefined ? headers : withSetCookie(headers, setCookie);
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

function withSetCookie(headers: readonly HeaderPair[], setCookie: string): HeaderPair[] {
  const directives = headers
    .filter(([name]) => name === 'cache-control')
    .flatMap(([, value]) => value.split(','))
    .map((directive) => directive.trim())
    .filter((directive) => directive !== '' && !SHARED_CACHE_DIRECTIVE.test(directive));
  if (!directives.some((directive) => UNSHARED_DIRECTIVE.test(directive)))
    directives.unshift('private');
  return [
    ...headers.filter(([name]) => name !== 'cache-control'),
    ['cache-control', directives.join(', ')],
    ['set-cookie', setCookie],
  ];
}

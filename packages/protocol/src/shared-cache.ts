/**
 * What an answer may say to caches that serve more than one person.
 *
 * @module
 */

import { canonicalHeaderName, type HeaderPair } from './header-names.ts';

/**
 * Fields that speak to shared caches alone, or grant what a `Cache-Control` beside them does not take
 * away: targeted fields (RFC 9213: `CDN-Cache-Control`, and by their shape those of any vendor),
 * `Surrogate-Control`, and what single caches read. `Expires` is all that a cache of HTTP/1.0 knows.
 * Written out as well for proxies that remove by exact name only.
 */
export const SHARED_CACHE_HEADERS: readonly string[] = [
  'akamai-cache-control',
  'cdn-cache-control',
  'cf-edge-cache',
  'cloudflare-cdn-cache-control',
  'edge-control',
  'fastly-cdn-cache-control',
  'netlify-cdn-cache-control',
  'surrogate-control',
  'vercel-cdn-cache-control',
  'x-accel-expires',
  'x-litespeed-cache-control',
];

const NAMES: ReadonlySet<string> = new Set([...SHARED_CACHE_HEADERS, 'expires']);
/** `x-accel-expires` takes no prefix; the shapes of the other vendors' fields do. */
const TARGETED = /(?:-cache-control|surrogate-control|-edge-control)$/;

const SHARED_DIRECTIVE = /^(?:public|s-maxage\s*=.*|proxy-revalidate)$/i;
const UNSHARED_DIRECTIVE = /^(?:private|no-store)$/i;

/** Whether a response field may let a shared cache keep an answer, whatever `Cache-Control` says. */
export function isSharedCacheHeader(name: string): boolean {
  const canonical = canonicalHeaderName(name);
  return NAMES.has(canonical) || TARGETED.test(canonical);
}

/**
 * Takes back in `Cache-Control` what is granted to shared caches.
 *
 * @param values - All values of the field, in the order sent.
 *
 * @returns One value: `private` unless nothing may be stored at all; what concerns the browser stays.
 * @see [RFC 9111 section 5.2.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.2) response directives
 */
export function withoutSharedCaching(values: readonly string[]): string {
  const directives = values
    .flatMap((value) => value.split(','))
    .map((directive) => directive.trim())
    .filter((directive) => directive !== '' && !SHARED_DIRECTIVE.test(directive));
  // What looks like a directive may stand in quotes.
  const isQuoted = directives.some((directive) => directive.includes('"'));
  if (isQuoted || !directives.some((directive) => UNSHARED_DIRECTIVE.test(directive)))
    directives.unshift('private');
  return directives.join(', ');
}

/** The headers of an answer to which a cookie is added: nothing in them lets a shared cache keep it. */
export function selectUnsharedHeaders(headers: readonly HeaderPair[]): HeaderPair[] {
  const granted = headers.filter(([name]) => name === 'cache-control');
  return [
    ...headers.filter(([name]) => name !== 'cache-control' && !isSharedCacheHeader(name)),
    ['cache-control', withoutSharedCaching(granted.map(([, value]) => value))],
  ];
}

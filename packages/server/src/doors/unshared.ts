/**
 * Keeping shared caches from what the answer of a service becomes with a cookie of ours.
 *
 * @module
 */

import type { ServerResponse } from 'node:http';
import { isSharedCacheHeader, withoutSharedCaching } from '@sallyport/protocol';
import type { HttpResponse } from '../listener/connections.ts';

/** What a finished answer is to lose, and what it is to say to caches instead. */
export function findGrants(headers: Headers): {
  readonly names: readonly string[];
  readonly cacheControl: string;
} {
  return {
    names: [...headers.keys()].filter(isSharedCacheHeader),
    cacheControl: withoutSharedCaching([headers.get('cache-control') ?? '']),
  };
}

/**
 * Adds the cookie to an answer that a handler has still to write: at the last moment, because only then
 * it is known what the handler says to caches.
 */
export function addCookieAtWrite(response: HttpResponse, setCookie: string): void {
  const res = response as ServerResponse;
  const writeHead = res.writeHead.bind(res);
  res.writeHead = (status: number, ...more: unknown[]) => {
    const reason = more.find((argument) => typeof argument === 'string');
    const given = more.find((argument) => typeof argument === 'object' && argument !== null);
    for (const [name, values] of readGiven(given)) res.setHeader(name, values);
    for (const name of res.getHeaderNames()) if (isSharedCacheHeader(name)) res.removeHeader(name);
    res.setHeader('cache-control', withoutSharedCaching(listOf(res.getHeader('cache-control'))));
    res.setHeader('set-cookie', [...listOf(res.getHeader('set-cookie')), setCookie]);
    return reason === undefined ? writeHead(status) : writeHead(status, reason);
  };
}

/** Headers as `writeHead` takes them, by name: an object, a flat list, or a list of pairs. */
function readGiven(given: unknown): ReadonlyMap<string, string | string[]> {
  const pairs = Array.isArray(given) ? pairsOf(given) : Object.entries(given ?? {});
  const byName = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    if (value === undefined) continue;
    const key = String(name).toLowerCase();
    byName.set(key, [...(byName.get(key) ?? []), ...listOf(value)]);
  }
  return new Map(
    [...byName].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}

function pairsOf(list: readonly unknown[]): (readonly [unknown, unknown])[] {
  if (Array.isArray(list[0])) return list as (readonly [unknown, unknown])[];
  return Array.from({ length: Math.floor(list.length / 2) }, (_, index) => [
    list[2 * index],
    list[2 * index + 1],
  ]);
}

function listOf(value: unknown): string[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).map(String);
}

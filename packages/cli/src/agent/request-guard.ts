/**
 * Which requests a door of the agent looks at, before it is known what they ask.
 *
 * @module
 */

import { createHash, timingSafeEqual } from 'node:crypto';

/** Header of the capability, lower case. */
export const CAPABILITY_HEADER = 'sallyport-capability';

/** What browsers alone send; a page cannot remove them. */
const FROM_BROWSER = /^(?:origin|sec-fetch-(?!mode$).*)$/i;

/** Why a request is refused. */
export type GuardReason =
  | 'from_browser'
  | 'host_foreign'
  | 'capability_missing'
  | 'capability_wrong';

/** What a door demands of every request. */
export interface GuardTerms {
  /** Values of `Host` that are this door's; absent where any will do, as on a Unix socket. */
  readonly hosts?: ReadonlySet<string>;
  /** Absent where the file system decides who may connect. */
  readonly capability?: string;
}

/**
 * Judges a request by its headers.
 *
 * A page of any origin can send requests to the loopback: browsers mark them with `Origin` or `Sec-Fetch-Site`, and
 * a name that is made to lead here (DNS rebinding) shows in `Host`. Programs send neither; `Sec-Fetch-Mode` says
 * nothing here, since `fetch` of Node.js sends it too.
 *
 * @param rawHeaders - Flat, as sent; `:authority` as `host`. Untrusted.
 * @returns `undefined` where the request may pass.
 * @see [Fetch Metadata](https://www.w3.org/TR/fetch-metadata/)
 */
export function guardRequest(
  rawHeaders: readonly string[],
  { hosts, capability }: GuardTerms,
): GuardReason | undefined {
  const named = (name: string): string[] => valuesOf(rawHeaders, name);
  const isFromBrowser = rawHeaders.some((name, at) => at % 2 === 0 && FROM_BROWSER.test(name));
  if (isFromBrowser) return 'from_browser';
  const [host = '', ...otherHosts] = named('host');
  if (hosts !== undefined && (otherHosts.length > 0 || !hosts.has(host.toLowerCase())))
    return 'host_foreign';
  if (capability === undefined) return undefined;
  const [given, ...others] = named(CAPABILITY_HEADER);
  if (given === undefined) return 'capability_missing';
  return others.length === 0 && isEqual(given, capability) ? undefined : 'capability_wrong';
}

/** Names under which a loopback port may be addressed. */
export function hostsOf(host: '127.0.0.1' | '::1', port: number): ReadonlySet<string> {
  const own = host === '::1' ? '[::1]' : host;
  return new Set([`${own}:${port}`, `localhost:${port}`]);
}

/** In constant time, whatever the lengths. */
function isEqual(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

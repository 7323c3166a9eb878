/**
 * Where plain http may go.
 *
 * @module
 */

/** Hosts on which plain http stays on the machine. */
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Whether a host is this machine: `localhost`, `127.0.0.1` or `[::1]`.
 *
 * @param host - A URL's `hostname`.
 */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOSTS.has(host);
}

/**
 * Decides whether a URL may be connected to: https anywhere; http on the loopback, and at an origin
 * that the configuration allows by name.
 *
 * Does not look at user information, and not at who named the URL: a document from elsewhere that
 * names one on the loopback is its reader's to judge.
 *
 * @param url - Untrusted.
 * @param dangerouslyAllowPlainHttpTo - The setting of that name: origins as WHATWG serialises them.
 */
export function mayConnect(url: URL, dangerouslyAllowPlainHttpTo: readonly string[]): boolean {
  if (url.protocol === 'https:') return true;
  if (url.protocol !== 'http:') return false;
  return isLoopbackHost(url.hostname) || dangerouslyAllowPlainHttpTo.includes(url.origin);
}

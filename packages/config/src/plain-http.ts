/**
 * Where plain http may go.
 *
 * @module
 */

import { isLoopbackHost } from '@sallyport/protocol';

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

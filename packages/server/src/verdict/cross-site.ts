/**
 * Refusing writes that another site makes with a person's cookie (CSRF).
 *
 * @module
 */

import type { CheckRequest } from './check-request.ts';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/**
 * Decides whether a request made with a session cookie is another site's write.
 *
 * Looks only at unsafe methods and protocol upgrades. A browser names the initiator in
 * `Sec-Fetch-Site` and `Origin`, which no page can forge; a client that sends neither is no browser
 * and has no ambient cookie to abuse. `SameSite=Lax` alone leaves sibling domains and WebSockets open.
 *
 * @param publicOrigin - The only origin that may write.
 */
export function isCrossSiteWrite({ method, headers }: CheckRequest, publicOrigin: string): boolean {
  const upgrades = headers.upgrade !== undefined || headers['sec-websocket-key'] !== undefined;
  if (SAFE_METHODS.has(method) && !upgrades) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  return headers.origin !== undefined && headers.origin !== publicOrigin;
}

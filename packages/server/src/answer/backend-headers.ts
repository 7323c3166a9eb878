/**
 * Which of a caller's headers a backend receives: the one strip list, used by every door that forwards.
 *
 * @module
 */

import {
  carriedHeaderName,
  type ForwardCredential,
  type HeaderPair,
  isRemovedHeader,
  selectEndToEndHeaders,
  withoutCookies,
} from '@sallyport/protocol';

/** What the strip list is made from; one per server, built at start. */
export interface BackendHeaderPolicy {
  /** Headers that carry a bearer: both configured names, and `authorization`. Lower case. */
  readonly bearerHeaders: ReadonlySet<string>;
  /** Further names from configuration, canonical spelling (`canonicalHeaderName`). */
  readonly stripHeaders: ReadonlySet<string>;
  /** Whether a cookie is one of ours: the session, or a sign-in attempt. */
  readonly isSessionCookie: (name: string) => boolean;
  readonly isAttemptCookie: (name: string) => boolean;
}

/**
 * Selects the headers to forward for one request.
 *
 * Drops hop-by-hop fields and those `Connection` names (never an identity header: those are set
 * after), HTTP/2 pseudo headers, whatever `isRemovedHeader` knows, our own cookies, and credentials the
 * route group does not forward, or that the check has not looked at: another spelling, another prefix.
 * Does not touch `host`: the door decides it.
 *
 * @param rawHeaders - Node's flat name-value list. Untrusted.
 * @param identityHeaders - From the admission; empty on an unprotected route.
 *
 * @returns Pairs in the caller's order, identity headers last; a repeated name stays repeated.
 */
export function selectBackendHeaders(
  rawHeaders: readonly string[],
  forwardCredential: ForwardCredential,
  identityHeaders: readonly HeaderPair[],
  policy: BackendHeaderPolicy,
): HeaderPair[] {
  const mayAttempt = forwardCredential === 'all';
  const mayBearer = mayAttempt || forwardCredential === 'bearer';
  const maySession = mayAttempt || forwardCredential === 'session';
  const kept: HeaderPair[] = [];
  for (const [name, value] of selectEndToEndHeaders(rawHeaders)) {
    const carried = carriedHeaderName(name);
    if (isRemovedHeader(name) || policy.stripHeaders.has(carried)) continue;
    if (policy.bearerHeaders.has(carried)) {
      if (mayBearer && policy.bearerHeaders.has(name)) kept.push([name, value]);
    } else if (name === 'cookie') {
      const rest = withoutCookies(
        value,
        (cookie) =>
          (!mayAttempt && policy.isAttemptCookie(cookie)) ||
          (!maySession && policy.isSessionCookie(cookie)),
      );
      if (rest !== undefined) kept.push([name, rest]);
    } else {
      kept.push([name, value]);
    }
  }
  return [...kept, ...identityHeaders];
}

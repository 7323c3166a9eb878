/**
 * Headers of a request to a backend: the caller's own, and those that the gateway adds.
 *
 * @module
 */

import { canonicalHeaderName, type HeaderPair, type RouteGroup } from '@sallyport/protocol';
import { type BackendHeaderPolicy, selectBackendHeaders } from '@sallyport/server/verdict';
import type { Exchange } from './exchange.ts';

/** What {@link buildUpstreamHeaders} is made from. */
export interface UpstreamHeaderParts {
  readonly exchange: Pick<Exchange, 'rawHeaders' | 'peerAddress'>;
  readonly group: Pick<RouteGroup, 'forwardCredential'>;
  /** From the admission; empty on an unprotected route. */
  readonly identityHeaders: readonly HeaderPair[];
  readonly requestId: string;
  readonly publicOrigin: URL;
  readonly policy: BackendHeaderPolicy;
}

/** What the gateway states itself, or has answered already; canonical spelling. */
const OWNED_NAMES: ReadonlySet<string> = new Set(['expect', 'host', 'x-request-id']);

/** Every value of a header, in the order sent. */
export function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  return values;
}

/**
 * Builds the headers of the request to a backend, without `host`.
 *
 * What the caller may pass on is `selectBackendHeaders`' to decide, statements about the way it took
 * included. They are replaced: the gateway is the edge, so the peer is the client and the
 * public origin is where the request came in, whatever address it was sent to.
 *
 * @returns Pairs in lower case; `cookie` once, as HTTP/1.1 needs it (RFC 9113 section 8.2.3).
 */
export function buildUpstreamHeaders(parts: UpstreamHeaderParts): HeaderPair[] {
  const { exchange, group, identityHeaders, requestId, publicOrigin, policy } = parts;
  const { forwardCredential } = group;
  const cookies: string[] = [];
  const headers: HeaderPair[] = [];
  for (const pair of selectBackendHeaders(
    exchange.rawHeaders,
    forwardCredential,
    identityHeaders,
    policy,
  )) {
    if (pair[0] === 'cookie') cookies.push(pair[1]);
    else if (!OWNED_NAMES.has(canonicalHeaderName(pair[0]))) headers.push(pair);
  }
  if (cookies.length > 0) headers.push(['cookie', cookies.join('; ')]);
  headers.push(
    ['x-forwarded-for', exchange.peerAddress],
    ['x-forwarded-host', publicOrigin.host],
    ['x-forwarded-proto', publicOrigin.protocol.slice(0, -1)],
    ['x-request-id', requestId],
  );
  return headers;
}

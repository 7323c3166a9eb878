/**
 * The redirect URI of the native app, as something to listen on.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';

/** Where a callback arrives. */
export interface LoopbackRedirect {
  /** Byte for byte as it was given: what is registered is compared as text. */
  readonly text: string;
  /** What a browser sends as `Host`. */
  readonly hostHeader: string;
  readonly port: number;
  readonly path: string;
  /** Addresses that a browser may connect to for this host. */
  readonly addresses: readonly ('127.0.0.1' | '::1')[];
}

const ADDRESSES_BY_HOST: ReadonlyMap<string, LoopbackRedirect['addresses']> = new Map([
  // Which of the two a browser prefers is its own business, so both are listened on.
  ['localhost', ['127.0.0.1', '::1']],
  ['127.0.0.1', ['127.0.0.1']],
  ['[::1]', ['::1']],
]);

/**
 * Parses a redirect URI that a program on this machine can answer: `http` on the loopback with a
 * port and a path, without query (RFC 8252 section 7.3).
 *
 * @param text - From the platform. Untrusted.
 */
export function parseLoopbackRedirect(
  text: string,
): Result<LoopbackRedirect, 'not_a_loopback_redirect'> {
  const url = URL.parse(text);
  const addresses = url === null ? undefined : ADDRESSES_BY_HOST.get(url.hostname);
  const isUsable =
    url !== null &&
    addresses !== undefined &&
    /^http:\/\/[^/?#@\\]+\/[^?#\\]*$/i.test(text) &&
    url.port !== '' &&
    url.port !== '0';
  return isUsable
    ? accept({
        text,
        hostHeader: url.host,
        port: Number(url.port),
        path: url.pathname,
        addresses,
      })
    : refuse('not_a_loopback_redirect');
}

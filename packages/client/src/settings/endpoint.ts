/**
 * The platform's address as clients write it.
 *
 * @module
 */

import { accept, isLoopbackHost, type Result, refuse } from '@sallyport/protocol';

/** The platform's address. */
export interface PlatformEndpoint {
  /** WHATWG origin, without the scheme's own port. */
  readonly origin: string;
  /** Host as in a URL: IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
  /** Plain http: tokens can be read on the way, unless {@link isLoopback}. */
  readonly isInsecure: boolean;
  readonly isLoopback: boolean;
}

/** Why an address is none. */
export type EndpointRefusal =
  | 'not_an_endpoint'
  /** `http://` off the loopback without `insecure`. */
  | 'http_needs_insecure'
  /** `https://` with `insecure`. */
  | 'https_with_insecure';

const ENDPOINT = /^(?:(dns:\/\/\/)|(https?):\/\/)?([^/?#@\\\s]+)\/?$/;

/**
 * Parses `dns:///host`, `dns:///host:port`, `host`, `host:port`, `https://host` or `http://host`.
 *
 * Without a port it is 443, and 80 on plain http. A path, a query or user information is refused.
 *
 * @param text - Untrusted.
 * @param isInsecure - `admin.insecure`: plain http, also off the loopback.
 */
export function parseEndpoint(
  text: string,
  isInsecure: boolean,
): Result<PlatformEndpoint, EndpointRefusal> {
  const [, , scheme, authority = ''] = ENDPOINT.exec(text) ?? [];
  if (scheme === 'https' && isInsecure) return refuse('https_with_insecure');
  const isPlain = scheme === 'http' || isInsecure;
  const url = URL.parse(`${isPlain ? 'http' : 'https'}://${authority}`);
  if (authority === '' || url === null || !/^[a-z0-9._[\]:-]+$/.test(url.hostname))
    return refuse('not_an_endpoint');
  const isLoopback = isLoopbackHost(url.hostname);
  if (isPlain && !isInsecure && !isLoopback) return refuse('http_needs_insecure');
  return accept({
    origin: url.origin,
    host: url.hostname,
    port: url.port === '' ? (isPlain ? 80 : 443) : Number(url.port),
    isInsecure: isPlain,
    isLoopback,
  });
}

/**
 * The only place a token is sent to.
 *
 * @module
 */

import { isOnThisMachine, SallyportError } from '@sallyport/protocol';
import type { TokenSource } from '../token-source.ts';

/** What every attachment needs. */
export interface Attachment {
  readonly source: TokenSource;
  /** Origin of the platform; tokens go nowhere else. */
  readonly endpoint: string;
  /**
   * Name of the header the platform reads a bearer from; asked for when the first token is attached.
   * Lower case.
   */
  readonly header: () => Promise<string>;
  /** Lets tokens cross a network in plain text, where every host on the way can take them. */
  readonly dangerouslyAllowPlainHttp?: boolean;
}

/**
 * Parses the endpoint that tokens may go to.
 *
 * @returns Its URL.
 * @throws {SallyportError} `SP_CONFIG_INVALID` when it is no origin of `https`, or of `http` on the
 *   loopback, unless plain http is allowed by name.
 */
export function parsePlatformEndpoint({
  endpoint,
  dangerouslyAllowPlainHttp = false,
}: Pick<Attachment, 'endpoint' | 'dangerouslyAllowPlainHttp'>): URL {
  const url = URL.parse(endpoint);
  const isSecure = url?.protocol === 'https:';
  const isPlain =
    url?.protocol === 'http:' && (dangerouslyAllowPlainHttp || isOnThisMachine(url.hostname));
  if (url === null || !(isSecure || isPlain) || url.username !== '' || url.password !== '')
    throw new SallyportError('SP_CONFIG_INVALID', {
      component: 'client',
      detail: 'the platform endpoint for tokens is https://HOST[:PORT], or http on the loopback',
    });
  return url;
}

/**
 * Makes the check whether a URL is at the endpoint's origin, as the URL standard compares origins.
 *
 * @throws {SallyportError} As {@link parsePlatformEndpoint}.
 */
export function createOriginCheck(
  options: Pick<Attachment, 'endpoint' | 'dangerouslyAllowPlainHttp'>,
): (url: string) => boolean {
  const { origin } = parsePlatformEndpoint(options);
  // A URL that begins with an origin and a slash has that origin: its authority ends there. Parsing takes a microsecond.
  const prefix = `${origin}/`;
  return (url) => url.startsWith(prefix) || URL.parse(url)?.origin === origin;
}

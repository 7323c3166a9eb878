/**
 * Header names on the wire, lower case, and which of them never pass through.
 *
 * @module
 */

/** A header as a name and a value; the name in lower case. */
export type HeaderPair = readonly [name: string, value: string];

/** The requirement's bearer header ("Authentication", Bearer header, rule 1). */
export const DEFAULT_AUTHORIZATION_HEADER = 'core-authorization';

/** Identity headers every admission sends, empty when unknown, so that a client's own copy never survives. */
export const IDENTITY_HEADERS = {
  subject: 'x-user-subject',
  issuer: 'x-user-issuer',
  identityType: 'x-user-identity-type',
  email: 'x-user-email',
  name: 'x-user-name',
} as const;

/** Prefix of the configured claim headers: claim `tenant_id` travels as `x-user-claim-tenant-id`. */
export const CLAIM_HEADER_PREFIX = 'x-user-claim-';

/**
 * nginx repeats in this header of its `/me` request the cookie that is the key of its verdict cache. `/me` allows
 * caching only if it equals the Cookie header, so a proxy with another cache key never caches a verdict.
 */
export const VERDICT_KEY_HEADER = 'x-sallyport-verdict-key';

/**
 * Hop-by-hop fields (RFC 9110 section 7.6.1, RFC 9113 section 8.2.2); never forwarded in either direction.
 * `te` is dropped too: a door that needs `te: trailers` sets it itself.
 */
export const HOP_BY_HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Brings a header name into the one spelling that strip lists are compared in: some servers read
 * `X_User_Subject` as `X-User-Subject` (CVE-2025-64484), and gateways to CGI turn any other sign into
 * `_` as well, so everything but letters and digits counts as `-`.
 */
export function canonicalHeaderName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
}

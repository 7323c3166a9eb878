/**
 * Header names on the wire, lower case, and which of them never pass through.
 *
 * @module
 */
/** A header as a name and a value; the name in lower case. */
export type HeaderPair = readonly [name: string, value: string];
/** The requirement's bearer header ("Authentication", Bearer header, rule 1). */
export declare const DEFAULT_AUTHORIZATION_HEADER = 'core-authorization';
/** Identity headers every admission sends, empty when unknown, so that a client's own copy never survives. */
export declare const IDENTITY_HEADERS: {
  readonly subject: 'x-user-subject';
  readonly issuer: 'x-user-issuer';
  readonly identityType: 'x-user-identity-type';
  readonly email: 'x-user-email';
  readonly name: 'x-user-name';
};
/** Prefix of the configured claim headers: claim `tenant_id` travels as `x-user-claim-tenant-id`. */
export declare const CLAIM_HEADER_PREFIX = 'x-user-claim-';
/** Name prefixes a client may never send to a backend, whatever the verdict. */
export declare const STRIPPED_PREFIXES: readonly string[];
/**
 * Hop-by-hop fields (RFC 9110 section 7.6.1, RFC 9113 section 8.2.2); never forwarded in either direction.
 * `te` is dropped too: a door that needs `te: trailers` sets it itself.
 */
export declare const HOP_BY_HOP_HEADERS: ReadonlySet<string>;
/**
 * Brings a header name into the one spelling that strip lists are compared in: some servers read
 * `X_User_Subject` as `X-User-Subject` (CVE-2025-64484), so `_` counts as `-`.
 */
export declare function canonicalHeaderName(name: string): string;
/** Whether a client-sent header is one of the identity names, in any spelling. */
export declare function isIdentityHeader(name: string): boolean;
//# sourceMappingURL=header-names.d.ts.map

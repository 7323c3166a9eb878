/**
 * Reading the Cookie header and writing Set-Cookie (RFC 6265).
 *
 * @module
 */
/** Attributes of a cookie we set. `HttpOnly` and `Path=/` are not options: every cookie of ours has them. */
export interface CookieAttributes {
  /** Seconds; 0 deletes. */
  readonly maxAgeSeconds: number;
  readonly secure: boolean;
  /** Absent sends no attribute and leaves it to the browser. */
  readonly sameSite?: 'Lax' | 'None';
  /** Absent keeps the cookie to the exact host. */
  readonly domain?: string;
}
/**
 * Finds every value of a cookie, in the order sent.
 *
 * All of them, because a sibling domain or a longer path may have planted a second one of the same
 * name in front; the caller tries each and never joins them. Values are returned as sent, quotes
 * included: our own values have none.
 *
 * @param header - The Cookie header. Untrusted; the listener bounds its length.
 * @param name - The exact, case-sensitive cookie name.
 */
export declare function readCookies(header: string | undefined, name: string): readonly string[];
/**
 * Removes cookies from a Cookie header, so that a backend never sees ours.
 *
 * @param header - The Cookie header. Untrusted.
 * @param isOurs - Says of a cookie name whether to drop it.
 *
 * @returns The rest, pairs unchanged; `undefined` when nothing is left.
 */
export declare function withoutCookies(
  header: string,
  isOurs: (name: string) => boolean,
): string | undefined;
/**
 * Writes a Set-Cookie value.
 *
 * @param name - Cookie name; a `__Host-` or `__Secure-` prefix is checked against the attributes.
 * @param value - Cookie octets only; nothing is encoded.
 *
 * @throws {TypeError} When a name, value or attribute could not survive the trip: a programmer error.
 *
 * @see [RFC 6265 section 4.1.1](https://www.rfc-editor.org/rfc/rfc6265#section-4.1.1) grammar
 */
export declare function serializeSetCookie(
  name: string,
  value: string,
  attributes: CookieAttributes,
): string;
//# sourceMappingURL=cookie.d.ts.map

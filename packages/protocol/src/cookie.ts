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

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const COOKIE_OCTETS = /^[\x21\x23-\x2B\x2D-\x3A\x3C-\x5B\x5D-\x7E]*$/;
const DOMAIN = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;

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
export function readCookies(header: string | undefined, name: string): readonly string[] {
  if (header === undefined || name === '') return NO_VALUES;
  let values: string[] | undefined;
  // Searched and not split: every protected request comes through here.
  for (let at = header.indexOf(name); at !== -1; at = header.indexOf(name, at + 1)) {
    const equals = skipBlanks(header, at + name.length);
    if (header[equals] !== '=' || !startsPair(header, at)) continue;
    const semicolon = header.indexOf(';', equals);
    const value = header.slice(equals + 1, semicolon === -1 ? undefined : semicolon).trim();
    if (values === undefined) values = [value];
    else values.push(value);
  }
  return values ?? NO_VALUES;
}

const NO_VALUES: readonly string[] = [];

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

/** Whether only blanks stand between a place and the pair's beginning. */
function startsPair(header: string, at: number): boolean {
  let before = at - 1;
  while (header[before] === ' ' || header[before] === '\t') before -= 1;
  return before < 0 || header[before] === ';';
}

/**
 * Removes cookies from a Cookie header, so that a backend never sees ours.
 *
 * @param header - The Cookie header. Untrusted.
 * @param isOurs - Says of a cookie name whether to drop it.
 *
 * @returns The rest, pairs unchanged; `undefined` when nothing is left.
 */
export function withoutCookies(
  header: string,
  isOurs: (name: string) => boolean,
): string | undefined {
  const kept = header
    .split(';')
    .map(trimBlanks)
    .filter((pair) => pair !== '' && !isOurs(trimBlanks(pair.split('=', 1)[0] ?? '')));
  return kept.length === 0 ? undefined : kept.join('; ');
}

/**
 * Takes off spaces and tabs alone (RFC 6265 section 5.2). `trim` would take a no-break space off as
 * well, and so make a name of ours from one that a browser does not guard by its `__Host-` prefix.
 */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

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
export function serializeSetCookie(
  name: string,
  value: string,
  attributes: CookieAttributes,
): string {
  const { maxAgeSeconds, secure, sameSite, domain } = attributes;
  if (!TOKEN.test(name)) throw new TypeError('cookie name is not a token');
  if (!COOKIE_OCTETS.test(value))
    throw new TypeError(`cookie ${name}: value holds a character cookies cannot carry`);
  if (!Number.isSafeInteger(maxAgeSeconds) || maxAgeSeconds < 0)
    throw new TypeError(`cookie ${name}: Max-Age is not a whole number`);
  if (domain !== undefined && !DOMAIN.test(domain))
    throw new TypeError(`cookie ${name}: domain is not a host name`);
  if (name.startsWith('__Host-') && (!secure || domain !== undefined))
    throw new TypeError(`cookie ${name}: __Host- needs Secure and no Domain`);
  if ((name.startsWith('__Secure-') || sameSite === 'None') && !secure)
    throw new TypeError(`cookie ${name}: needs Secure`);
  return (
    `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly` +
    (secure ? '; Secure' : '') +
    (sameSite === undefined ? '' : `; SameSite=${sameSite}`) +
    (domain === undefined ? '' : `; Domain=${domain}`)
  );
}

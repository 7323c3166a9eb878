/**
 * The session cookie: which name and attributes it has, and what its value means.
 *
 * @module
 */

import { hash, randomBytes } from 'node:crypto';
import { type CookieAttributes, readCookies, serializeSetCookie } from '@sallyport/protocol';
import { formatSessionId, parseSessionId, readSessionId } from './session-id.ts';

/** The session's id and the secret that opens its tokens, as one cookie value holds them. */
export interface SessionHandle {
  /** 48 bits of a hash of the secret: a row number, not a secret itself. */
  readonly id: number;
  /** 32 random bytes. Secret: its bearer is signed in. */
  readonly secret: Buffer;
}

/** Name and attributes of our cookies, fixed at start from `publicUrl` and `auth.userAuth.cookieSetting`. */
export interface CookieSettings {
  readonly sessionName: string;
  /** The four sign-in attempt cookies. */
  readonly attemptNames: readonly string[];
  readonly attributes: Omit<CookieAttributes, 'maxAgeSeconds'>;
}

const SECRET_BYTES = 32;
const ID_LENGTH = 8;
/** More than any browser keeps for a site and its sibling domains together: 180 are usual. */
const VALUES_MAX = 256;
/** The last character stands for four bits and two that are nothing: other ones would be a second spelling. */
const VALUE = /^[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
const ATTEMPT_SLOTS = 4;

/**
 * Chooses cookie names and attributes.
 *
 * Over https the name carries `__Host-`, which no sibling domain can plant; a configured domain
 * leaves `__Secure-`; plain http (loopback only) can have neither, nor `Secure`.
 *
 * @param sameSite - From `sameSitePolicy`; absent sends no attribute.
 * @param domain - From `cookieSetting.domain`; empty for none, as the requirement has it.
 *
 * @see [RFC 6265bis section 4.1.3](https://www.ietf.org/archive/id/draft-ietf-httpbis-rfc6265bis-20.html#section-4.1.3) cookie name prefixes
 */
export function createCookieSettings(
  publicUrl: URL,
  sameSite: 'Lax' | 'None' | undefined,
  domain: string,
): CookieSettings {
  const secure = publicUrl.protocol === 'https:';
  const prefix = secure ? (domain === '' ? '__Host-' : '__Secure-') : '';
  return {
    sessionName: `${prefix}core_session`,
    attemptNames: Array.from({ length: ATTEMPT_SLOTS }, (_, slot) => `${prefix}core_login_${slot}`),
    attributes: {
      secure,
      ...(sameSite === undefined ? {} : { sameSite }),
      ...(domain === '' ? {} : { domain }),
    },
  };
}

/**
 * Draws a new handle from the system's random source.
 *
 * The text of the id never begins with `-`, so that a command line does not read it as an option: one secret in
 * 64 is drawn again. Ids that an earlier release issued may begin so, and count like any other.
 */
export function createSessionHandle(): SessionHandle {
  for (;;) {
    const secret = randomBytes(SECRET_BYTES);
    const id = deriveId(secret);
    if (!formatSessionId(id).startsWith('-')) return { id, secret };
  }
}

/**
 * Whether a handle's id belongs to its secret: only who had the cookie has such a one for a given id, also
 * when nothing else is known of the session any more. Says nothing of whether there is or was a session.
 *
 * Sessions that an earlier release began have random ids, and none of them passes.
 */
export function isIdOfSecret({ id, secret }: SessionHandle): boolean {
  return id === deriveId(secret);
}

function deriveId(secret: Buffer): number {
  const text = hash('sha256', `sallyport/session-id ${secret.toString('base64url')}`, 'base64url');
  // Every eight characters of base64url are an id.
  return parseSessionId(text.slice(0, ID_LENGTH)) ?? 0;
}

/** Writes a handle as the cookie's value, 52 characters. */
export function formatSessionHandle({ id, secret }: SessionHandle): string {
  return `${formatSessionId(id)}.${secret.toString('base64url')}`;
}

/**
 * Parses a cookie value.
 *
 * @param value - Untrusted.
 *
 * @returns `undefined` for anything but the one spelling {@link formatSessionHandle} gives: base64url
 *   has several spellings of the same bytes, and only one of them may count.
 */
export function parseSessionHandle(value: string): SessionHandle | undefined {
  const id = VALUE.test(value) ? readSessionId(value) : undefined;
  return id === undefined ? undefined : { id, secret: Buffer.from(value.slice(9), 'base64url') };
}

/** Whether a cookie value could be a session at all. Cheap: looks nothing up. */
export function isSessionHandle(value: string): boolean {
  return VALUE.test(value);
}

/**
 * Reads the session cookies of a request that could be sessions, each once, in the order sent.
 *
 * A sibling domain or a page on another path may plant any number of them beside the real one, where the
 * name has no `__Host-` prefix. None of them pushes it out: there are as many as a browser can send.
 *
 * @param header - The Cookie header. Untrusted.
 *
 * @returns At most 256 values. Where none could be a session the first one as it is, so that a cookie that
 *   was sent differs from none.
 */
export function readSessionValues(header: string | undefined, name: string): readonly string[] {
  const values = readCookies(header, name);
  if (values.length < 2) return values;
  const possible = [...new Set(values.filter(isSessionHandle))];
  return possible.length === 0 ? values.slice(0, 1) : possible.slice(0, VALUES_MAX);
}

/** Set-Cookie for a session that may idle for so long. */
export function setSessionCookie(
  settings: CookieSettings,
  value: string,
  maxAgeSeconds: number,
): string {
  return serializeSetCookie(settings.sessionName, value, { ...settings.attributes, maxAgeSeconds });
}

/** Set-Cookie that deletes the session cookie; the attributes must match those it was set with. */
export function clearSessionCookie(settings: CookieSettings): string {
  return serializeSetCookie(settings.sessionName, '', { ...settings.attributes, maxAgeSeconds: 0 });
}

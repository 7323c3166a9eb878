/**
 * A session's id as people and programs write it: the part of the cookie before the dot.
 *
 * @module
 */

const ID_BYTES = 6;
const ID_LENGTH = 8;
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** What each character stands for, by its code; -1 for those that stand for nothing. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) =>
  BASE64URL.indexOf(String.fromCharCode(code)),
);

/**
 * Writes an id as eight base64url characters. Only ids that an earlier release issued may begin with `-`.
 *
 * @param id - 48 bits, as in `StoredSession.id`.
 */
export function formatSessionId(id: number): string {
  const bytes = Buffer.alloc(ID_BYTES);
  bytes.writeUIntBE(id, 0, ID_BYTES);
  return bytes.toString('base64url');
}

/**
 * Parses what {@link formatSessionId} writes; every eight base64url characters are an id, and no two
 * texts are the same one.
 *
 * @param text - Untrusted.
 *
 * @returns `undefined` for anything else, a whole cookie value included.
 */
export function parseSessionId(text: string): number | undefined {
  return text.length === ID_LENGTH ? readSessionId(text) : undefined;
}

/**
 * Reads the id that a cookie value begins with, whatever follows it.
 *
 * @param text - Untrusted.
 *
 * @returns `undefined` where it does not begin with eight base64url characters.
 */
export function readSessionId(text: string): number | undefined {
  let id = 0;
  for (let at = 0; at < ID_LENGTH; at += 1) {
    // Beyond the end of the text, and beyond ASCII, there is no digit.
    const digit = DIGITS[text.charCodeAt(at)] ?? -1;
    if (digit < 0) return undefined;
    id = id * 64 + digit;
  }
  return id;
}

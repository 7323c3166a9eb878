/**
 * A session's id as people and programs write it: the part of the cookie before the dot.
 *
 * @module
 */

const ID_BYTES = 6;
const ID = /^[A-Za-z0-9_-]{8}$/;

/**
 * Writes an id as eight base64url characters. It may begin with a dash.
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
  return ID.test(text) ? Buffer.from(text, 'base64url').readUIntBE(0, ID_BYTES) : undefined;
}

/**
 * The name under which the tokens of a key are kept.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import type { TokenKey } from '../token-store.ts';

/**
 * Names a token key: the same for the same key, another one for any other.
 *
 * Each part goes in with its length before it, so that no two keys run together to the same text.
 * Scopes count as a set: neither their order nor a repetition makes another key.
 *
 * @returns SHA-256 in lower-case hexadecimal, safe as a file name.
 */
export function tokenKeyId(key: TokenKey): string {
  const scopes = [...new Set(key.scopes)].sort();
  const parts = [
    'sallyport token key 1',
    key.issuer,
    key.tokenEndpoint,
    key.endpoint,
    key.clientId,
    String(scopes.length),
    ...scopes,
    key.audience,
  ];
  const hash = createHash('sha256');
  for (const part of parts) {
    const bytes = Buffer.from(part, 'utf16le');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  }
  return hash.digest('hex');
}

/**
 * Tokens too large for a keyring item: sealed, with the key in the keyring.
 *
 * @module
 */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed text and what opens it. */
export interface SealedRecord {
  /** For the file, in base64url. */
  readonly sealed: string;
  /** For the keyring, in base64url; opens this text and no other. */
  readonly key: string;
}

/**
 * Seals a text with AES-256-GCM under a key of its own.
 *
 * @param name - What the text belongs to; it opens under no other name.
 */
export function sealRecord(text: string, name: string): SealedRecord {
  const key = randomBytes(32);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(name));
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final()]);
  return {
    sealed: Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url'),
    key: key.toString('base64url'),
  };
}

/** Opens a sealed text; `undefined` when it is another one's, damaged, or not sealed by this key. */
export function openRecord(record: SealedRecord, name: string): string | undefined {
  const key = Buffer.from(record.key, 'base64url');
  const bytes = Buffer.from(record.sealed, 'base64url');
  if (key.length !== 32 || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([opened, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

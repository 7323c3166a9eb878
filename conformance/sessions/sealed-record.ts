/**
 * Opens what the store and the key ring hold, by what docs/storage-schema.md says of them and nothing
 * else.
 *
 * @module
 */

import { createDecipheriv, hkdfSync } from 'node:crypto';

/** One key of the ring's file. */
export interface RingKey {
  readonly kid: string;
  /** Base64url. */
  readonly key: string;
}

/** What a key may be used for. */
export const PURPOSES = [
  'session-metadata',
  'session-tokens',
  'login-attempt',
  'state',
  'sign-out-state',
] as const;

/** How one tries to open a sealed part. */
export interface Attempt {
  readonly key: RingKey;
  readonly purpose: (typeof PURPOSES)[number];
  /** The place it belongs to: session id and generation. */
  readonly binding: string;
  /** The secret part of the session's cookie. */
  readonly secret?: Buffer;
}

const HEAD_BYTES = 1 + 6 + 12;
const TAG_BYTES = 16;

/** Opens `version | key id | iv | ciphertext | tag`; `undefined` when that fails. */
export function tryToOpen(
  sealed: Uint8Array,
  { key, purpose, binding, secret }: Attempt,
): string | undefined {
  const bytes = Buffer.from(sealed);
  const ofPurpose = derive(Buffer.from(key.key, 'base64url'), Buffer.alloc(0), purpose);
  const used = secret === undefined ? ofPurpose : derive(secret, ofPurpose, 'with-cookie-secret');
  const decipher = createDecipheriv('aes-256-gcm', used, bytes.subarray(7, HEAD_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(JSON.stringify([bytes[0], key.kid, purpose, binding])));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const plain = decipher.update(bytes.subarray(HEAD_BYTES, -TAG_BYTES));
  try {
    decipher.final();
    return plain.toString();
  } catch {
    return undefined;
  }
}

function derive(secret: Buffer, salt: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, `sallyport/v1/${purpose}`, 32));
}

/**
 * Sealing: authenticated encryption under the key ring, with the key's id in front.
 *
 * @module
 */

import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { KeyPurpose, KeyRing } from './key-ring.ts';

const VERSION = 1;
const KID_BYTES = 6;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const GCM = { authTagLength: TAG_BYTES } as const;
const HEAD_BYTES = 1 + KID_BYTES + IV_BYTES;

/** Names what is sealed and where it belongs, so that a sealed value cannot be moved to another place. */
export interface SealContext {
  readonly purpose: KeyPurpose;
  /** What the value belongs to: a session id and generation, a slot. Part of what is authenticated. */
  readonly binding: string;
  /** A further secret without which the value stays closed: that of the session cookie. */
  readonly secret?: Uint8Array;
}

/**
 * Seals bytes with AES-256-GCM: `version | key id | iv | ciphertext | tag`.
 *
 * @throws {SallyportError} `SP_KEY_RING_UNUSABLE` when no key may seal.
 */
export function seal(ring: KeyRing, context: SealContext, plain: string): Buffer {
  const { kid, key } = ring.sealingKey(context.purpose);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', withSecret(key, context.secret), iv, GCM);
  cipher.setAAD(additionalData(kid, context));
  const body = cipher.update(plain, 'utf8');
  cipher.final();
  return Buffer.concat([
    Buffer.of(VERSION),
    Buffer.from(kid, 'base64url'),
    iv,
    body,
    cipher.getAuthTag(),
  ]);
}

/**
 * Opens what {@link seal} made.
 *
 * @param sealed - Untrusted bytes.
 *
 * @returns The plain text, or `undefined`: one answer for an unknown key, a changed byte, another
 *   place and a wrong secret alike, so that nothing can be learnt from the difference.
 * @throws {SallyportError} `SP_KEY_RING_UNUSABLE` when the ring was never read.
 */
export function open(ring: KeyRing, context: SealContext, sealed: Uint8Array): string | undefined {
  if (sealed.length < HEAD_BYTES + TAG_BYTES || sealed[0] !== VERSION) return undefined;
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
  const kid = bytes.toString('base64url', 1, 1 + KID_BYTES);
  const key = ring.openingKey(kid, context.purpose);
  if (key === undefined) return undefined;
  try {
    const decipher = createDecipheriv(
      'aes-256-gcm',
      withSecret(key, context.secret),
      bytes.subarray(1 + KID_BYTES, HEAD_BYTES),
      GCM,
    );
    decipher.setAAD(additionalData(kid, context));
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    const plain = decipher.update(bytes.subarray(HEAD_BYTES, bytes.length - TAG_BYTES));
    decipher.final();
    return plain.toString('utf8');
  } catch {
    return undefined;
  }
}

/** {@link seal} as text that a cookie or a parameter can carry. */
export function sealText(ring: KeyRing, context: SealContext, plain: string): string {
  return seal(ring, context, plain).toString('base64url');
}

/**
 * Opens what {@link sealText} made; only its one spelling counts, not another base64url text of the
 * same bytes.
 *
 * @param text - Untrusted.
 */
export function openText(ring: KeyRing, context: SealContext, text: string): string | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? open(ring, context, bytes) : undefined;
}

function additionalData(kid: string, { purpose, binding }: SealContext): Buffer {
  return Buffer.from(JSON.stringify([VERSION, kid, purpose, binding]));
}

function withSecret(key: KeyObject, secret: Uint8Array | undefined): KeyObject | Buffer {
  if (secret === undefined) return key;
  return Buffer.from(
    hkdfSync('sha256', secret, key.export(), 'sallyport/v1/with-cookie-secret', 32),
  );
}

/**
 * Tokens written byte by byte, so that they can be wrong in ways a library refuses to be.
 *
 * @module
 */

import { createHmac } from 'node:crypto';
import type { Forgery } from '@sallyport/testing/idp/fake-idp';

/** Signs the two first parts of a token. */
export type Signer = (signingInput: string) => Promise<Buffer> | Buffer;

/**
 * Writes a compact JWS.
 *
 * @param header - An object, or JSON as it is to stand there.
 * @param payload - An object, or JSON as it is to stand there.
 */
export async function writeJws(
  header: string | object,
  payload: string | object,
  sign: Signer,
): Promise<string> {
  const input = `${encode(header)}.${encode(payload)}`;
  return `${input}.${(await sign(input)).toString('base64url')}`;
}

/** RS256 with a key pair's private half. */
export function rs256(key: CryptoKey): Signer {
  return async (input) =>
    Buffer.from(await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key, Buffer.from(input)));
}

/** ES256 with a key pair's private half. */
export function es256(key: CryptoKey): Signer {
  return async (input) =>
    Buffer.from(
      await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, Buffer.from(input)),
    );
}

/** HS256 with any bytes as the secret. */
export function hs256(secret: string | Buffer): Signer {
  return (input) => createHmac('sha256', secret).update(input).digest();
}

/** A signature that is these bytes, whatever was signed. */
export function fixedSignature(bytes: Buffer): Signer {
  return () => bytes;
}

/** Makes the id_token of one sign-in. */
export type Forge = (forgery: Forgery) => Promise<string>;

/** What an honest header says. */
export const HONEST_HEADER = { alg: 'RS256', kid: 'k1', typ: 'JWT' } as const;

/** Signed by the IdP's own key, with claims and header changed; `undefined` takes one out. */
export function signed(
  claims: object | ((forgery: Forgery) => object),
  header: object = {},
): Forge {
  return (forgery) => {
    const changed = typeof claims === 'function' ? claims(forgery) : claims;
    return writeJws(
      { ...HONEST_HEADER, ...header },
      { ...forgery.claims, ...changed },
      rs256(forgery.signingKey),
    );
  };
}

/** Signed by the IdP's own key, the payload changed as text. */
export function written(change: (json: string) => string): Forge {
  return (forgery) =>
    writeJws(HONEST_HEADER, change(JSON.stringify(forgery.claims)), rs256(forgery.signingKey));
}

function encode(part: string | object): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}

/**
 * JWT bearers of the bench's identity provider, many of them.
 *
 * @module
 */

import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { FakeIdp } from '@sallyport/testing/idp/fake-idp';
import { BEARER_HEADER, PUBLIC_URL } from './sallyport.ts';

/** Longer than any case takes. */
const LIFE_SECONDS = 36_000;

/** Signs the n-th token with RS256; synchronous and with the same key object, to sign many. */
export function createTokenSigner(
  idp: Pick<FakeIdp, 'issuer' | 'privateJwk'>,
  audience: string = PUBLIC_URL,
): (n: number) => string {
  const key: KeyObject = createPrivateKey({ key: idp.privateJwk, format: 'jwk' });
  const now = Math.floor(Date.now() / 1_000);
  const header = encode({ alg: 'RS256', kid: 'k1', typ: 'at+jwt' });
  return (n) => {
    const subject = `user-${String(n).padStart(6, '0')}`;
    const payload = encode({
      iss: idp.issuer,
      sub: subject,
      aud: audience,
      scope: 'all',
      client_id: 'cli',
      email: `${subject}@example.test`,
      email_verified: true,
      jti: `token-${subject}`,
      iat: now,
      exp: now + LIFE_SECONDS,
    });
    const signature = sign('sha256', Buffer.from(`${header}.${payload}`), key);
    return `${header}.${payload}.${signature.toString('base64url')}`;
  };
}

/** The header that carries a token. */
export function bearer(token: string): Readonly<Record<string, string>> {
  return { [BEARER_HEADER]: `Bearer ${token}` };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/**
 * The signature of a JWT against the keys of its issuer.
 *
 * @module
 */

import type { IssuerKeys } from './issuer-keys.ts';
import type { Jwt } from './jwt.ts';
import { verifySignature } from './signature.ts';

/** What came of it; `undecided` when the key may exist and could not be had. */
export type SignatureResult = 'verified' | 'unknown_key' | 'signature' | 'undecided';

/**
 * Verifies a signature, and once more with keys fetched anew when it does not hold; synchronous unless
 * they are fetched.
 *
 * Which algorithms may be used is the caller's to decide, before.
 */
export function verifyJwtSignature(
  keys: IssuerKeys,
  jwt: Jwt,
): SignatureResult | Promise<SignatureResult> {
  const first = trySignature(keys, jwt);
  if (first === 'verified') return first;
  // Also after a bad signature: the issuer may have put another key under the same id.
  const renewed = keys.renew();
  return renewed === undefined ? first : renewed.then(() => trySignature(keys, jwt));
}

function trySignature(keys: IssuerKeys, jwt: Jwt): SignatureResult {
  const { keyId, algorithm, signingInput, signature } = jwt;
  const candidates = keys.select(keyId, algorithm);
  if (candidates === undefined) return 'undecided';
  if (candidates.length === 0) return keys.isOutdated ? 'undecided' : 'unknown_key';
  return candidates.some((key) => verifySignature(algorithm, key, signingInput, signature))
    ? 'verified'
    : 'signature';
}

/**
 * Signature algorithms of JWTs (RFC 7518, RFC 8037), and the one place that verifies with them.
 *
 * @module
 */

import { constants, type KeyObject, verify } from 'node:crypto';
import type { SignatureAlgorithm } from '@sallyport/config';

interface Procedure {
  /** Name Node knows the digest by; `null` where the scheme brings its own. */
  readonly digest: string | null;
  readonly keyType: 'rsa' | 'ec' | 'ed25519';
  /** The one curve of an ECDSA algorithm. */
  readonly curve?: string;
  readonly options: Readonly<Record<string, number | string>>;
}

const rsa = (digest: string): Procedure => ({
  digest,
  keyType: 'rsa',
  options: { padding: constants.RSA_PKCS1_PADDING },
});

const pss = (digest: string, saltLength: number): Procedure => ({
  digest,
  keyType: 'rsa',
  options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength },
});

/** The signature is the two numbers side by side, not DER (RFC 7518 section 3.4). */
const ecdsa = (digest: string, curve: string): Procedure => ({
  digest,
  keyType: 'ec',
  curve,
  options: { dsaEncoding: 'ieee-p1363' },
});

const edwards: Procedure = { digest: null, keyType: 'ed25519', options: {} };

/**
 * All are asymmetric: `none` and the HMAC family are not here, so that no configuration can switch
 * them on (RFC 8725 sections 2.1 and 3.1).
 */
const PROCEDURES: ReadonlyMap<string, Procedure> = new Map<SignatureAlgorithm, Procedure>([
  ['RS256', rsa('sha256')],
  ['RS384', rsa('sha384')],
  ['RS512', rsa('sha512')],
  ['PS256', pss('sha256', 32)],
  ['PS384', pss('sha384', 48)],
  ['PS512', pss('sha512', 64)],
  ['ES256', ecdsa('sha256', 'prime256v1')],
  ['ES384', ecdsa('sha384', 'secp384r1')],
  ['ES512', ecdsa('sha512', 'secp521r1')],
  ['EdDSA', edwards],
  ['Ed25519', edwards],
]);

/** Whether an algorithm is one of those that can be verified with at all. */
export function isSignatureAlgorithm(algorithm: string): boolean {
  return PROCEDURES.has(algorithm);
}

/** Whether a key is of the type, and on the curve, that an algorithm wants. */
export function fitsAlgorithm(key: KeyObject, algorithm: string): boolean {
  const procedure = PROCEDURES.get(algorithm);
  return (
    procedure !== undefined &&
    key.asymmetricKeyType === procedure.keyType &&
    (procedure.curve === undefined || key.asymmetricKeyDetails?.namedCurve === procedure.curve)
  );
}

/**
 * Verifies a signature, synchronously.
 *
 * Synchronous on purpose: at some 18 us an RS256 verification costs less than the way to another
 * thread and back, and a request is decided in one turn.
 *
 * @param key - A public key that {@link fitsAlgorithm} the algorithm.
 */
export function verifySignature(
  algorithm: string,
  key: KeyObject,
  signingInput: string,
  signature: Uint8Array,
): boolean {
  const procedure = PROCEDURES.get(algorithm);
  if (procedure === undefined || !fitsAlgorithm(key, algorithm)) return false;
  if (procedure.keyType === 'rsa' && signature.length !== modulusBytes(key)) return false;
  return verify(
    procedure.digest,
    Buffer.from(signingInput, 'latin1'),
    { key, ...procedure.options },
    signature,
  );
}

/**
 * The length of every signature by an RSA key. OpenSSL takes one of PSS without its leading zero, too: a second
 * spelling of the same token.
 *
 * @see [RFC 8017 section 8.1.2](https://www.rfc-editor.org/rfc/rfc8017#section-8.1.2) step 1
 */
function modulusBytes(key: KeyObject): number {
  return Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
}

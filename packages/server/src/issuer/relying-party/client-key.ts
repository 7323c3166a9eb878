/**
 * The web app's private key, as its file holds it.
 *
 * @module
 */

import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { accept, type Result } from '@sallyport/protocol';
import {
  type ClientKeyRefusal,
  type ReadKey,
  readKeyText,
  refuseKey,
  withoutParameters,
} from './client-key-text.ts';

/** The public half, as it is published: RSA, P-256 or Ed25519 (RFC 7517, RFC 8037). */
export interface PublicClientKey {
  readonly kty: string;
  readonly kid: string;
  readonly alg: ClientKeyAlgorithm;
  readonly use: 'sig';
  /** The members of the key type. */
  readonly [member: string]: string;
}

/** How assertions are signed. `Ed25519` is `EdDSA` by the name of RFC 9864. */
export type ClientKeyAlgorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA' | 'Ed25519';

/** A key that can sign. The caller MUST NOT print it. */
export interface ClientKey {
  readonly algorithm: ClientKeyAlgorithm;
  /** Cannot be exported. */
  readonly signingKey: CryptoKey;
  readonly publicKey: PublicClientKey;
  /** The public halves of all keys of the file, this one's first. */
  readonly published: readonly PublicClientKey[];
}

const RSA_BITS_MIN = 2048;
const KID = /^[\x20-\x7e]{1,255}$/;

/** The algorithms of each type of key; the first is meant where a JWK names none. */
const ALGORITHMS: Readonly<Record<string, readonly ClientKeyAlgorithm[]>> = {
  rsa: ['RS256', 'PS256'],
  'rsa-pss': ['PS256'],
  ec: ['ES256'],
  ed25519: ['EdDSA', 'Ed25519'],
};

/** Parameters of each algorithm for Web Cryptography. */
const PARAMETERS = {
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  PS256: { name: 'RSA-PSS', hash: 'SHA-256' },
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  EdDSA: { name: 'Ed25519' },
  Ed25519: { name: 'Ed25519' },
} as const satisfies Readonly<Record<ClientKeyAlgorithm, object>>;

/**
 * Reads a private key: one PEM block in PKCS#8 (RFC 5958), one JWK or a set of JWKs (RFC 7517).
 *
 * Of a set the first signs, and all are published, so that an IdP that caches the published keys
 * can learn of the next one before it is used. The type decides the algorithm, unless the JWK's `alg`
 * chooses another that the type has. The key ID is the JWK's `kid`, else the thumbprint (RFC 7638), so
 * that a new key always has a new one. Does not ask whether the IdP knows the key.
 *
 * @param text - The file's whole text. Secret.
 *
 * @returns The key; otherwise what is wrong, in fixed words.
 */
export function parseClientKey(text: string): Result<ClientKey, ClientKeyRefusal> {
  const read = readKeyText(text);
  if (!read.ok) return read;
  const keys: SigningKey[] = [];
  for (const each of read.value) {
    const key = toSigningKey(each);
    if (!key.ok) return key;
    keys.push(key.value);
  }
  const [first] = keys;
  if (first === undefined) return refuseKey('a set without keys');
  const published = keys.map(({ publicKey }) => publicKey);
  return new Set(published.map(({ kid }) => kid)).size === keys.length
    ? accept({ ...first, published })
    : refuseKey('two keys with the same kid', 'a kid of its own for each key');
}

type SigningKey = Omit<ClientKey, 'published'>;

function toSigningKey({ key, alg, kid, use }: ReadKey): Result<SigningKey, ClientKeyRefusal> {
  const type = key.asymmetricKeyType ?? '';
  const algorithms = ALGORITHMS[type];
  if (algorithms === undefined) return refuseKey(`a key of the type ${type}`);
  const weakness = findWeakness(key);
  if (weakness !== undefined) return refuseKey(weakness);
  const algorithm = alg === undefined ? algorithms[0] : algorithms.find((each) => each === alg);
  if (algorithm === undefined)
    return refuseKey('another alg', `${algorithms.join(' or ')} as alg of this key`);
  if (use !== undefined && use !== 'sig') return refuseKey('another use', 'sig as use of this key');

  const plain = type === 'rsa-pss' ? withoutParameters(key) : key;
  const members = createPublicKey(plain).export({ format: 'jwk' }) as Record<string, string>;
  const keyId = kid ?? thumbprintOf(members);
  if (typeof keyId !== 'string' || !KID.test(keyId))
    return refuseKey('an unusable kid', 'a kid of at most 255 printable ASCII characters');
  return accept({
    algorithm,
    signingKey: plain.toCryptoKey(PARAMETERS[algorithm], false, ['sign']),
    publicKey: {
      ...members,
      kty: members['kty'] ?? '',
      kid: keyId,
      alg: algorithm,
      use: 'sig',
    },
  });
}

function findWeakness(key: KeyObject): string | undefined {
  const { modulusLength, namedCurve, hashAlgorithm } = key.asymmetricKeyDetails ?? {};
  if (modulusLength !== undefined && modulusLength < RSA_BITS_MIN)
    return `an RSA key of ${modulusLength} bits`;
  if (namedCurve !== undefined && namedCurve !== 'prime256v1')
    return `a key on the curve ${namedCurve}`;
  return hashAlgorithm === undefined || hashAlgorithm === 'sha256'
    ? undefined
    : `an RSASSA-PSS key for ${hashAlgorithm}`;
}

/** RFC 7638 section 3: the members a public key needs, in the order of their names. */
function thumbprintOf(members: Readonly<Record<string, string>>): string {
  const ordered = Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(ordered)))
    .digest('base64url');
}

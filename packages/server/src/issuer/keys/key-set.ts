/**
 * An issuer's public keys from its JWKS document (RFC 7517).
 *
 * @module
 */

import { createPublicKey, type KeyObject } from 'node:crypto';
import { accept, type JsonValue, type Result, refuse } from '@sallyport/protocol';
import { fitsAlgorithm } from '../jwt/signature.ts';
import { type JsonObject, parseStrictObject } from '../jwt/strict-json.ts';

/** One key a signature may be verified with. */
interface VerificationKey {
  readonly keyId: string | undefined;
  /** The one algorithm the issuer allows it for; `undefined` allows each that fits its type. */
  readonly algorithm: string | undefined;
  readonly key: KeyObject;
}

/** The usable keys of one document. */
export interface KeySet {
  /** Keys of that id that fit the algorithm; all of them when the token names none. */
  select(keyId: string | undefined, algorithm: string): readonly KeyObject[];
  /** Ids of all entries, those that cannot be used too: such a key is known, and not looked for. */
  readonly keyIds: ReadonlySet<string>;
  /** Each key with its id and algorithm as one text, to see which of them are gone later. */
  readonly fingerprints: ReadonlySet<string>;
  /** Entries that are no key to verify with, or too weak. */
  readonly ignored: number;
}

/** What is wrong with a document as a whole. */
export type KeySetProblem = 'not_a_key_set' | 'too_many_keys';

const KEYS_MAX = 100;
const RSA_MIN_BITS = 2_048;
/** Beyond it one verification takes milliseconds. */
const RSA_MAX_BITS = 8_192;
/** An even one is no exponent; a large one makes a verification slow, and no issuer has one. */
const EXPONENT_MIN = 3n;
const EXPONENT_MAX = 2n ** 64n;
/** Most keys tried for a token that names no key, or whose key id the set has twice. */
const CANDIDATES_MAX = 4;

/**
 * Parses a key set.
 *
 * An entry that cannot be used is left out: keys for encryption, symmetric and private ones, unknown
 * types and curves, points off their curve, RSA below 2,048 or above 8,192 bits or with an exponent that is
 * even, below 3 or beyond 64 bits. An empty set is taken at its word: the issuer withdrew every key.
 *
 * @param text - The document. Untrusted.
 *
 * @see [RFC 7517 section 5](https://www.rfc-editor.org/rfc/rfc7517#section-5) unknown keys are ignored
 * @see [RFC 8725 section 3.5](https://www.rfc-editor.org/rfc/rfc8725#section-3.5) sufficient entropy of keys
 */
export function parseKeySet(text: string): Result<KeySet, KeySetProblem> {
  const entries = parseStrictObject(text)?.['keys'];
  if (!isList(entries)) return refuse('not_a_key_set');
  if (entries.length > KEYS_MAX) return refuse('too_many_keys');
  const keys = entries.flatMap((entry) => toKey(entry) ?? []);
  return accept({
    select: (keyId, algorithm) =>
      keys
        .filter(
          (each) =>
            (keyId === undefined || each.keyId === keyId) &&
            (each.algorithm === undefined || each.algorithm === algorithm) &&
            fitsAlgorithm(each.key, algorithm),
        )
        .slice(0, CANDIDATES_MAX)
        .map(({ key }) => key),
    keyIds: new Set(entries.flatMap(readKeyId)),
    fingerprints: new Set(keys.map(fingerprint)),
    ignored: entries.length - keys.length,
  });
}

function readKeyId(entry: JsonValue): readonly string[] {
  const isObject = typeof entry === 'object' && entry !== null && !isList(entry);
  const { kid } = isObject ? (entry as JsonObject) : {};
  return typeof kid === 'string' ? [kid] : [];
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function toKey(entry: JsonValue): VerificationKey | undefined {
  if (typeof entry !== 'object' || entry === null || isList(entry)) return undefined;
  const { kty, kid, alg, use, key_ops: operations } = entry as JsonObject;
  const isForVerifying =
    (use === undefined || use === 'sig') &&
    (operations === undefined || (isList(operations) && operations.includes('verify')));
  // A published private key proves nothing any more.
  if (!isForVerifying || kty === 'oct' || Object.hasOwn(entry, 'd')) return undefined;
  if (kid !== undefined && typeof kid !== 'string') return undefined;
  if (alg !== undefined && typeof alg !== 'string') return undefined;
  const key = importKey(entry);
  return key === undefined ? undefined : { keyId: kid, algorithm: alg, key };
}

function importKey(jwk: JsonObject): KeyObject | undefined {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
  } catch {
    return undefined;
  }
  if (key.asymmetricKeyType !== 'rsa') return key;
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  const isStrong =
    modulusLength >= RSA_MIN_BITS &&
    modulusLength <= RSA_MAX_BITS &&
    publicExponent >= EXPONENT_MIN &&
    publicExponent < EXPONENT_MAX &&
    publicExponent % 2n === 1n;
  return isStrong ? key : undefined;
}

function fingerprint({ keyId, algorithm, key }: VerificationKey): string {
  const spki = key.export({ type: 'spki', format: 'der' }).toString('base64url');
  return JSON.stringify([keyId, algorithm, spki]);
}

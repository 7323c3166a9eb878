/**
 * The private keys in a file's text: PEM or JWK, and what stands beside them.
 *
 * @module
 */

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { accept, type Result, refuse } from '@sallyport/protocol';

/** Why a text holds no key to sign with; never quotes any of it. */
export interface ClientKeyRefusal {
  readonly found: string;
  readonly expected: string;
}

/** A private key, and what a JWK says of it; unchecked. */
export interface ReadKey {
  readonly key: KeyObject;
  readonly alg?: unknown;
  readonly kid?: unknown;
  readonly use?: unknown;
}

const PEM = /^-----BEGIN ([A-Z0-9 ]+)-----[A-Za-z0-9+/=\s]+-----END \1-----$/;
/** Blocks that are given by mistake. */
const OTHER_PEM: ReadonlyMap<string, string> = new Map([
  ['ENCRYPTED PRIVATE KEY', 'an encrypted key'],
  ['RSA PRIVATE KEY', 'a private key that is not in PKCS#8'],
  ['EC PRIVATE KEY', 'a private key that is not in PKCS#8'],
  ['PUBLIC KEY', 'a public key'],
]);
const EXPECTED =
  'a private key of RSA (2048 bits or more), P-256 or Ed25519, as PEM (PKCS#8), JWK or a set of JWKs';

/**
 * Reads one PEM block in PKCS#8 (RFC 5958), one JWK or one set of JWKs (RFC 7517), with white space
 * around it. Does not judge the keys.
 *
 * @param text - Secret.
 *
 * @returns At least one key.
 */
export function readKeyText(text: string): Result<readonly ReadKey[], ClientKeyRefusal> {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) return readPem(trimmed);
  const document = parseJson(trimmed);
  if (document === undefined) return refuseKey('JSON that cannot be read');
  const { keys } = document;
  if (keys === undefined) return readJwks([document]);
  return Array.isArray(keys) && keys.length > 0 ? readJwks(keys) : refuseKey('a set without keys');
}

/** Refuses in fixed words. */
export function refuseKey(
  found: string,
  expected: string = EXPECTED,
): Result<never, ClientKeyRefusal> {
  return refuse({ found, expected });
}

/**
 * The same RSA key without the parameters of RSASSA-PSS, with which the runtime neither signs through
 * the web cryptography nor exports a JWK. It is the last of the three members that every PKCS#8 key
 * begins with (RFC 5958 section 2): version, algorithm, key.
 */
export function withoutParameters(key: KeyObject): KeyObject {
  const info = memberOf(key.export({ format: 'der', type: 'pkcs8' }));
  const version = memberOf(info.content);
  const algorithm = memberOf(version.rest);
  const pkcs1 = memberOf(algorithm.rest).content;
  return createPrivateKey({ key: pkcs1, format: 'der', type: 'pkcs1' });
}

/** The first DER member of bytes that the runtime has written itself. */
function memberOf(bytes: Buffer): { readonly content: Buffer; readonly rest: Buffer } {
  const first = bytes[1] ?? 0;
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const start = 2 + lengthBytes;
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes);
  return { content: bytes.subarray(start, start + length), rest: bytes.subarray(start + length) };
}

function readPem(text: string): Result<readonly ReadKey[], ClientKeyRefusal> {
  const label = PEM.exec(text)?.[1] ?? '';
  if (label !== 'PRIVATE KEY') return refuseKey(OTHER_PEM.get(label) ?? 'something else');
  try {
    return accept([{ key: createPrivateKey({ key: text, format: 'pem' }) }]);
  } catch {
    return refuseKey('a private key that cannot be read');
  }
}

function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    // The parser's own message quotes the text, which holds the key.
    return undefined;
  }
}

function readJwks(jwks: readonly unknown[]): Result<readonly ReadKey[], ClientKeyRefusal> {
  const keys: ReadKey[] = [];
  for (const jwk of jwks) {
    const read = readJwk(jwk);
    if (!read.ok) return read;
    keys.push(read.value);
  }
  return accept(keys);
}

function readJwk(jwk: unknown): Result<ReadKey, ClientKeyRefusal> {
  if (typeof jwk !== 'object' || jwk === null) return refuseKey('no JWK');
  const { kty, d, alg, kid, use } = jwk as Record<string, unknown>;
  if (kty === 'oct') return refuseKey('a secret that both sides know');
  if (d === undefined) return refuseKey('no private key');
  try {
    return accept({ key: createPrivateKey({ key: jwk, format: 'jwk' }), alg, kid, use });
  } catch {
    return refuseKey('a private key that cannot be read');
  }
}

/**
 * The RSA key that signs the embedded IdP's tokens.
 *
 * @module
 */

import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { type StateDirectory, unusableFile } from './state-directory.ts';

/** The only signature algorithm that the embedded IdP uses (RFC 7518 section 3.3). */
export const SIGNING_ALGORITHM = 'RS256';

const FILE = 'signing-key.json';
const MODULUS_BITS = 2048;

/**
 * Reads the signing key of a state directory, or makes one; it takes a fraction of a second once.
 *
 * @returns The private key as a JWK whose `kid` is its thumbprint (RFC 7638).
 * @throws {SallyportError} `SP_CONFIG_INVALID` when the file holds no private RSA key.
 */
export async function keepSigningKey(directory: StateDirectory): Promise<JWK> {
  const text = await directory.keep(FILE, createSigningKey);
  const jwk = parseSigningKey(text);
  if (jwk === undefined) throw unusableFile(directory.pathOf(FILE));
  try {
    await importJWK(jwk, SIGNING_ALGORITHM);
  } catch {
    throw unusableFile(directory.pathOf(FILE));
  }
  return jwk;
}

async function createSigningKey(): Promise<string> {
  const { privateKey } = await generateKeyPair(SIGNING_ALGORITHM, {
    modulusLength: MODULUS_BITS,
    extractable: true,
  });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return `${JSON.stringify({ ...jwk, alg: SIGNING_ALGORITHM, use: 'sig', kid })}\n`;
}

function parseSigningKey(text: string): JWK | undefined {
  try {
    const jwk = JSON.parse(text) as JWK;
    return jwk.kty === 'RSA' && typeof jwk.d === 'string' ? jwk : undefined;
  } catch {
    return undefined;
  }
}

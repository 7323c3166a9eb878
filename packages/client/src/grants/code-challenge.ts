/**
 * Proof key for code exchange.
 *
 * @module
 */

import { createHash, randomBytes } from 'node:crypto';

/** Makes a verifier of 64 characters from 48 random bytes (RFC 7636 section 4.1 wants 43 to 128). */
export function createCodeVerifier(): string {
  return randomBytes(48).toString('base64url');
}

/** Derives the S256 challenge (RFC 7636 section 4.2). */
export function deriveCodeChallenge(verifier: string): string {
  return createHash('sha256').update(verifier, 'ascii').digest('base64url');
}

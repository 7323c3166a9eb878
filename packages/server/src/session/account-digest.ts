/**
 * A text that says "the same account or not" and nothing else.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import type { Principal } from '@sallyport/protocol';

const DIGEST_BYTES = 12;

/**
 * Digests an account: 16 base64url characters, the same for every session of a principal.
 *
 * It identifies no person and proves nothing: issuer and subject are enough to compute it.
 */
export function digestAccount({ issuer, subject }: Pick<Principal, 'issuer' | 'subject'>): string {
  return createHash('sha256')
    .update(JSON.stringify(['account', issuer, subject]))
    .digest()
    .subarray(0, DIGEST_BYTES)
    .toString('base64url');
}

/**
 * From the name of a claim to the header it arrives in.
 *
 * @module
 */

import { CLAIM_HEADER_PREFIX } from '@sallyport/protocol';
import { harmless } from './harmless.ts';

/**
 * The header a claim arrives in.
 *
 * @throws {TypeError} When no header can be named after it.
 */
export function claimHeader(claim: string): string {
  const name = harmless('claim', claim)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-');
  return harmless('header', CLAIM_HEADER_PREFIX + name);
}

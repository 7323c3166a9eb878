/**
 * The signature of a JWT against the keys of its issuer.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import type { Schedule } from '../../time/schedule.ts';
import type { IssuerKeys } from '../keys/issuer-keys.ts';
import { verifySignature } from './signature.ts';

/** As much of a JWT as its signature hangs on. */
export interface SignedText {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  /** What was signed: the first two parts as they were sent. */
  readonly signingInput: string;
  readonly signature: Uint8Array;
}

/**
 * What came of it; `undecided` when the key may exist and could not be had, `pending` when it may exist and
 * the issuer was asked so often lately that it is not asked now.
 */
export type SignatureResult = 'verified' | 'unknown_key' | 'signature' | 'undecided' | 'pending';

/**
 * Verifies the signature of a token from an unknown sender, and once more with keys fetched again when it
 * does not hold; synchronous unless they are fetched.
 *
 * A token of a key that is not known is refused once a fetch that began after the token came has not found
 * the key; as long as the issuer may not be asked it is `pending`. A key whose id is known is looked for anew
 * after half a minute only, and the token decided by what there is: so forgeries of a known id cost nothing,
 * and another key under the same id, which RFC 7517 section 4.5 advises against, counts after that time. Which
 * algorithms may be used is the caller's to decide, before.
 */
export function verifyJwtSignature(
  keys: IssuerKeys,
  jwt: SignedText,
): SignatureResult | Promise<SignatureResult> {
  const first = trySignature(keys, jwt);
  if (first === 'verified') return first;
  if (keys.knows(jwt.keyId)) {
    const asked = keys.isFresh ? undefined : keys.ask('stranger');
    return asked === undefined ? first : asked.then(() => trySignature(keys, jwt));
  }
  const cameAt = keys.firstCameAt(nameOf(jwt));
  const isDecided = keys.hasLookedSince(cameAt);
  // Some issuers show a new key late, or not at all their addresses at once.
  const asked = isDecided && keys.isFresh ? undefined : keys.ask('stranger');
  if (asked === undefined) return isDecided ? first : leaveOpen(first);
  return asked.then(() => decideUnknown(keys, jwt, cameAt));
}

/** Where it had only joined a fetch that was under way, that one may have missed the key. */
async function decideUnknown(
  keys: IssuerKeys,
  jwt: SignedText,
  cameAt: number,
): Promise<SignatureResult> {
  const result = trySignature(keys, jwt);
  if (result === 'verified' || keys.hasLookedSince(cameAt)) return result;
  await keys.ask('stranger');
  const last = trySignature(keys, jwt);
  return keys.hasLookedSince(cameAt) ? last : leaveOpen(last);
}

/**
 * Verifies the signature of a token that the issuer itself has just given, over TLS.
 *
 * Its key may be newer than what is known, so the issuer is asked for it.
 *
 * @param patienceMs - How long is waited at most until the issuer may be asked once more.
 */
export async function verifyIssuedSignature(
  keys: IssuerKeys,
  jwt: SignedText,
  schedule: Schedule,
  patienceMs: number,
): Promise<SignatureResult> {
  const cameAt = keys.begun;
  for (let waitedMs = 0; ; ) {
    const result = trySignature(keys, jwt);
    if (result === 'verified' || keys.hasLookedSince(cameAt)) return result;
    if (keys.knows(jwt.keyId) && keys.isFresh) return result;
    // Also after a fetch that failed: then it cannot be decided.
    if (keys.begun > cameAt && result === 'undecided') return result;
    const asked = keys.ask('issuer');
    if (asked === undefined) {
      const waitMs = keys.untilAskMs('issuer');
      if (waitedMs + waitMs > patienceMs) return leaveOpen(result);
      waitedMs += waitMs;
      await new Promise<void>((resolve) => schedule(waitMs, resolve));
    } else await asked;
  }
}

function leaveOpen(result: SignatureResult): SignatureResult {
  return result === 'unknown_key' || result === 'signature' ? 'pending' : result;
}

/** Of what makes a token this one and no other. */
function nameOf({ signingInput, signature }: SignedText): string {
  return createHash('sha256').update(signingInput).update(signature).digest('base64url');
}

function trySignature(keys: IssuerKeys, jwt: SignedText): SignatureResult {
  const { keyId, algorithm, signingInput, signature } = jwt;
  const candidates = keys.select(keyId, algorithm);
  if (candidates === undefined) return 'undecided';
  if (candidates.length === 0) return keys.isOutdated ? 'undecided' : 'unknown_key';
  return candidates.some((key) => verifySignature(algorithm, key, signingInput, signature))
    ? 'verified'
    : 'signature';
}

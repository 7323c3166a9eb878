/**
 * Whether a token is still good by its times.
 *
 * @module
 */

import type { TokenSet } from '../token-set.ts';

/** Two machines that share a store may differ by so much, in milliseconds. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * Says whether the token can be handed out as it is.
 *
 * A token without a known end is fresh until a server refuses it. One that was obtained in the future
 * is not: the clock was set back, and the remaining lifetime is unknown.
 *
 * @param needs - `windowMs`: milliseconds before its end at which a token is replaced, never more
 *   than half of its life. `minTtlMs`: what a caller asks for instead, without that limit.
 */
export function isFresh(
  tokens: TokenSet,
  now: number,
  needs: { readonly windowMs: number; readonly minTtlMs: number | undefined },
): boolean {
  const { expiresAt, obtainedAt } = tokens;
  if (expiresAt === undefined) return true;
  if (now < obtainedAt - CLOCK_TOLERANCE_MS) return false;
  const halfLifeMs = Math.max(0, expiresAt - obtainedAt) / 2;
  const remainsMs = needs.minTtlMs ?? Math.min(needs.windowMs, halfLifeMs);
  return now < expiresAt && expiresAt - now >= remainsMs;
}

/** Says whether a server may still take the token. When the clock was set back it is the server that knows. */
export function isLiving(tokens: TokenSet, now: number): boolean {
  return tokens.expiresAt === undefined || now < tokens.expiresAt;
}

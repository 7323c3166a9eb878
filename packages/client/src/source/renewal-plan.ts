/**
 * When the token of a service is replaced, and until when it is used.
 *
 * @module
 */

import type { TokenSet } from '../token-set.ts';

/** No call carries a token in its last 10 seconds: the call and the clocks of two machines take time. */
const RESERVE_MS = 10_000;
/** A shorter window would leave no time for a second attempt before the reserve begins. */
const WINDOW_LEAST_MS = 30_000;
/** Less time than this between the beginning of the window and the reserve is not enough to renew in. */
const ROOM_LEAST_MS = 5_000;
/** What a token without a known end is taken to live. */
const ASSUMED_LIFETIME_MS = 600_000;
/** Two machines that share a store may differ by so much. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Times of one token, in epoch milliseconds. */
export interface RenewalPlan {
  /** When the token is replaced in the background. */
  readonly renewAt: number;
  /** From here on no call carries it. Infinite if its end is not known: the server that refuses it decides. */
  readonly usableUntil: number;
}

/**
 * Plans the renewal.
 *
 * The token is replaced within `min(windowMs, half of its life)` of its end, at a random moment in the first half
 * of what that window leaves before the reserve of 10 seconds, so that clients that started together do not come
 * together, and the second half remains for further attempts. A window below 30 seconds counts as 30. A token so
 * short that its window would lie in the reserve is replaced in the second half of its usable time.
 *
 * A token without a known end (no `expires_in`, and no `exp` of its own) is taken to live 10 minutes as far as the
 * renewal goes; it is used on until a server refuses it.
 *
 * @param random - A number in [0, 1).
 */
export function planRenewal(tokens: TokenSet, windowMs: number, random: number): RenewalPlan {
  const { obtainedAt } = tokens;
  const expiresAt = tokens.expiresAt ?? obtainedAt + ASSUMED_LIFETIME_MS;
  const reservedFrom = expiresAt - RESERVE_MS;
  const halfLifeMs = Math.max(0, expiresAt - obtainedAt) / 2;
  const opensAt = expiresAt - Math.min(Math.max(windowMs, WINDOW_LEAST_MS), halfLifeMs);
  const from =
    opensAt <= reservedFrom - ROOM_LEAST_MS
      ? opensAt
      : obtainedAt + Math.max(0, reservedFrom - obtainedAt) / 2;
  return {
    renewAt: from + (random * Math.max(0, reservedFrom - from)) / 2,
    usableUntil: tokens.expiresAt === undefined ? Number.POSITIVE_INFINITY : reservedFrom,
  };
}

/**
 * Whether the token is to be replaced now. Also when it was obtained in the future: the clock was set back, and
 * what remains of it is not known.
 */
export function isDue(tokens: TokenSet, plan: RenewalPlan, now: number): boolean {
  return now >= plan.renewAt || now < tokens.obtainedAt - CLOCK_TOLERANCE_MS;
}

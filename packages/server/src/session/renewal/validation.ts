/**
 * When the IdP is asked again whether a session still stands, and until when it counts unasked.
 *
 * @module
 */

import type { Session } from '../session-record.ts';

/** Of the time until the IdP must be asked, this part passes before it is: a slow answer then harms nobody. */
const AHEAD = 0.8;
/** Sessions begun together are spread over this part of that time, so that they do not ask together for ever. */
const SPREAD = 0.1;
const SPREAD_STEPS = 1_024;
/** An access token that lives no time at all must not cost a renewal with every request. */
const LEAST_MS = 30_000;

/** Limits of {@link planValidation}; in milliseconds. */
export interface ValidationLimits {
  readonly revalidateAfterMs: number;
  readonly renewalGraceMs: number;
}

/**
 * Plans the next validation, counted from one that has just succeeded.
 *
 * @param sessionId - Spreads sessions; the same session always gets the same place.
 * @param renewable - Whether there is a refresh token: without one nobody can be asked.
 * @param accessTokenLifeMs - What the IdP granted; it wants to be asked at least that often.
 */
export function planValidation(
  { revalidateAfterMs, renewalGraceMs }: ValidationLimits,
  now: number,
  sessionId: number,
  renewable: boolean,
  accessTokenLifeMs: number | undefined,
): Pick<Session, 'revalidateAt' | 'validUntil'> {
  if (!renewable) return { revalidateAt: undefined, validUntil: undefined };
  const within = Math.max(
    LEAST_MS,
    Math.min(revalidateAfterMs, accessTokenLifeMs ?? revalidateAfterMs),
  );
  const place = (sessionId % SPREAD_STEPS) / SPREAD_STEPS;
  return {
    revalidateAt: now + Math.floor(within * (AHEAD - SPREAD * place)),
    validUntil: now + within + renewalGraceMs,
  };
}

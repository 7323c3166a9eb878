/**
 * When the IdP is asked again whether a session still stands, and until when it counts unasked.
 *
 * @module
 */

import type { Session } from './session-record.ts';

/** Of the time until the IdP must be asked, this part passes before it is: a slow answer then delays no request. */
const AHEAD = 0.8;
/** Sessions begun together are spread over this part of that time, so that they do not ask together for ever. */
const SPREAD = 0.1;
const SPREAD_STEPS = 1_024;
/** An access token that lives no time at all must not cost a renewal with every request. */
const LEAST_MS = 30_000;

/** Lifetimes that {@link planValidation} looks at; in milliseconds. */
export interface ValidationLifetimes {
  readonly revalidateAfterMs: number;
  readonly renewalGraceMs: number;
}

/**
 * Plans the next validation, counted from one that has just succeeded.
 *
 * @param sessionId - Spreads sessions; the same session always gets the same place.
 * @param renewable - Whether there is a refresh token: without one the IdP cannot be asked.
 * @param accessTokenLifeMs - What the IdP granted; it wants to be asked at least that often.
 */
export function planValidation(
  { revalidateAfterMs, renewalGraceMs }: ValidationLifetimes,
  now: number,
  sessionId: number,
  renewable: boolean,
  accessTokenLifeMs: number | undefined,
): Pick<Session, 'revalidateAt' | 'confirmedUntil' | 'validUntil'> {
  if (!renewable)
    return { revalidateAt: undefined, confirmedUntil: undefined, validUntil: undefined };
  const within = Math.max(
    LEAST_MS,
    Math.min(revalidateAfterMs, accessTokenLifeMs ?? revalidateAfterMs),
  );
  const place = (sessionId % SPREAD_STEPS) / SPREAD_STEPS;
  return {
    revalidateAt: now + Math.floor(within * (AHEAD - SPREAD * place)),
    confirmedUntil: now + within,
    validUntil: now + within + renewalGraceMs,
  };
}

/** Uses are noted this often at most, so that the last one noted may be older than the last one by this much. */
const NOTE_USE_EVERY_MS = 60_000;
/** A session used at least once a minute has a noted use younger than this. */
const STEADY_USE_MS = 2 * NOTE_USE_EVERY_MS;

/**
 * Whether a session may be admitted before the IdP is asked about it: its confirmation lasts, or it is in
 * steady use, which means that a use was noted since the confirmation ran out and within the last two minutes.
 *
 * A person whom the IdP has shut out and who comes back later is thus refused at once, and one who works
 * while the IdP is away does not wait for it at every request. Does not look at `validUntil`.
 *
 * @param session - `lastUsedAt` as this process knows it: it may be too early, never too late.
 */
export function isAdmittedUnasked(
  session: Pick<Session, 'revalidateAt' | 'confirmedUntil' | 'lastUsedAt'>,
  now: number,
): boolean {
  const { revalidateAt = now, confirmedUntil, lastUsedAt } = session;
  if (confirmedUntil === undefined || now < confirmedUntil) return true;
  // An answer that could not be verified is asked for again after a while only.
  if (now < revalidateAt) return true;
  return lastUsedAt >= confirmedUntil && now - lastUsedAt < STEADY_USE_MS;
}

/**
 * Whether a use is to be noted: once a minute, and when it is the first since the confirmation ran out, by which
 * the other processes know that the session is in use.
 */
export function isUseWorthNoting(
  { confirmedUntil, lastUsedAt }: Pick<Session, 'confirmedUntil' | 'lastUsedAt'>,
  now: number,
): boolean {
  return (
    now - lastUsedAt >= NOTE_USE_EVERY_MS ||
    (confirmedUntil !== undefined && lastUsedAt < confirmedUntil && now >= confirmedUntil)
  );
}

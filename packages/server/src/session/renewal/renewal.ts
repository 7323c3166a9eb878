/**
 * One renewal: the IdP is asked whether a session still stands, by one process at a time.
 *
 * @module
 */

import { randomUUID } from 'node:crypto';
import type { JsonValue, Result, UserRecord } from '@sallyport/protocol';
import { type Claims, claimsOfRecord, joinClaims } from '../../issuer/joined-claims.ts';
import type {
  IssuedTokens,
  RefreshedTokens,
  RefreshRefusal,
  RefreshTokens,
} from '../../issuer/token-refresh.ts';
import type { KeyRing } from '../key-ring.ts';
import type { SessionHandle } from '../session-cookie.ts';
import { openSession, openTokens, type Session, toStoredSession } from '../session-record.ts';
import type { SessionStore, StoredSession } from '../session-store.ts';
import { planValidation, type ValidationLifetimes } from '../validation.ts';
import type { RenewalBudget, RenewalTurn } from './renewal-budget.ts';

/** The session as the caller has read it. */
export interface SeenSession {
  readonly id: number;
  readonly generation: number;
}

/** How a renewal ended. */
export type RenewalOutcome =
  /** By this renewal or another process's: the stored session is a newer one. */
  | { readonly kind: 'renewed'; readonly byUs: boolean }
  /** The answer did not pass a check: the session counts no longer than before, and keeps the token that works. */
  | { readonly kind: 'kept'; readonly check: string }
  /** The session is gone: ended by this renewal, or meanwhile. */
  | {
      readonly kind: 'ended';
      readonly byUs: 'renewal_refused' | 'renewal_lost' | undefined;
      /** The IdP's error code, where it gave one. */
      readonly code?: string;
    }
  /** Nothing is decided; worth another try. */
  | { readonly kind: 'postponed'; readonly retryAfterMs: number; readonly cause: unknown };

/** Dependencies of {@link renewSession}. */
export interface RenewalDependencies {
  readonly store: SessionStore;
  readonly ring: KeyRing;
  readonly tokens: RefreshTokens;
  readonly budget: RenewalBudget;
  readonly lifetimes: ValidationLifetimes;
  /** What a session keeps of claims: the record for backends, and what the access rules look at. */
  readonly keepClaims: (claims: Readonly<Record<string, JsonValue>>) => {
    readonly user: UserRecord;
    readonly claims: Readonly<Record<string, JsonValue>>;
  };
  /** Whether the process is about to end: then nothing is sent any more. */
  readonly isStopping: () => boolean;
  /** Called when a request is about to leave for the IdP. */
  readonly onSent: (session: Session) => void;
  /** Called once when the answer has not come for {@link UNANSWERED_MS}: it is still listened for. */
  readonly onUnanswered: () => void;
  readonly now: () => number;
  readonly schedule: (afterMs: number, callback: () => void) => () => void;
}

/**
 * A refresh without an answer for so long is only listened for: requests do not wait for it, and it holds up
 * no other renewal.
 */
export const UNANSWERED_MS = 60_000;
/** A holder that stopped prolonging is given up after this, as long as nothing has left. */
const LEASE_MS = 8_000;
/**
 * And after this once its request has left, prolonged as long as its answer is listened for: longer than a store is away in a failover, and shorter than the
 * half minute for which providers take a token twice.
 */
const SENT_LEASE_MS = 20_000;
/** A process that takes over from a holder that has sent waits this long for that holder's write. */
const TAKE_OVER_MS = 2_000;
const PROLONG_EVERY_MS = 2_000;
const STOPPING: RenewalOutcome = { kind: 'postponed', retryAfterMs: 1_000, cause: undefined };
/** How often another process's renewal is looked at; after {@link UNANSWERED_MS} no request waits for it. */
const LOOK_EVERY_MS = 100;
const LOOK_LATER_EVERY_MS = 1_000;
/**
 * The answer may hold the only refresh token that works: a store that cannot take it is tried again for a
 * minute, which is longer than a failover lasts.
 */
const WRITE_ATTEMPTS = 240;
const WRITE_AGAIN_MS = 250;
/** An answer that could not be verified is asked for again after this. */
const UNVERIFIED_RETRY_MS = 60_000;

/**
 * Renews one generation of a session, or waits for the process that does.
 *
 * Sends at most one request: only the holder of the lease sends, and only while the stored generation
 * is the one the lease was taken for. Listens for the answer as long as it can come, and keeps the lease
 * meanwhile: what may have reached the IdP is not sent a second time before. The result is written by compare-and-set, so that a session
 * revoked meanwhile stays ended; its new refresh token is then given back.
 *
 * Rejects with `SP_STORE_UNAVAILABLE` or `SP_KEY_RING_UNUSABLE`.
 *
 * @param handles - Of the session's cookies: only the secret in one of them opens the tokens.
 * @see [RFC 9700 section 4.14](https://www.rfc-editor.org/rfc/rfc9700#section-4.14) refresh token rotation
 */
export async function renewSession(
  dependencies: RenewalDependencies,
  { id, generation }: SeenSession,
  handles: readonly SessionHandle[],
): Promise<RenewalOutcome> {
  const { store, budget } = dependencies;
  const holder = randomUUID();
  const findOutcome = (stored: StoredSession | undefined): RenewalOutcome | undefined => {
    if (stored === undefined) return { kind: 'ended', byUs: undefined };
    if (stored.generation !== generation) return { kind: 'renewed', byUs: false };
    return dependencies.isStopping() ? STOPPING : undefined;
  };
  for (let waitedMs = 0; !(await store.lease(id, holder, LEASE_MS)); ) {
    const outcome = findOutcome(await store.read(id));
    if (outcome !== undefined) return outcome;
    const pauseMs = waitedMs < UNANSWERED_MS ? LOOK_EVERY_MS : LOOK_LATER_EVERY_MS;
    await pause(dependencies, pauseMs);
    waitedMs += pauseMs;
  }
  const stopProlonging = prolong(dependencies, id, holder);
  try {
    let stored = await store.read(id);
    if (stored?.renewalSent === true && stored.generation === generation) {
      await pause(dependencies, TAKE_OVER_MS);
      stored = await store.read(id);
    }
    const outcome = findOutcome(stored);
    if (outcome !== undefined || stored === undefined) return outcome ?? STOPPING;
    const turn = budget.take();
    if (!turn.ok) return { kind: 'postponed', retryAfterMs: turn.retryAfterMs, cause: undefined };
    try {
      return await sendRenewal(dependencies, handles, stored, holder, turn);
    } finally {
      turn.done('unsent');
    }
  } finally {
    stopProlonging();
    await store.release(id, holder).catch(() => undefined);
  }
}

async function sendRenewal(
  dependencies: RenewalDependencies,
  handles: readonly SessionHandle[],
  stored: StoredSession,
  holder: string,
  turn: RenewalTurn,
): Promise<RenewalOutcome> {
  const { store, ring, tokens: relyingParty, lifetimes, keepClaims, onSent, now } = dependencies;
  const opened = openStored(ring, stored, handles);
  if (opened?.tokens.refreshToken === undefined) return { kind: 'ended', byUs: undefined };
  const { handle, session, tokens } = opened;
  const { refreshToken } = opened.tokens;
  // What could not be sealed afterwards is better not asked for.
  ring.sealingKey('session-tokens');
  const isOurs = await store.noteRenewalSent(stored.id, stored.generation, holder, SENT_LEASE_MS);
  if (!isOurs) return { kind: 'renewed', byUs: false };
  onSent(session);
  const cancel = dependencies.schedule(UNANSWERED_MS, () => {
    turn.unanswered();
    dependencies.onUnanswered();
  });
  const refreshed = await relyingParty
    .refresh({ ...tokens, refreshToken }, session.principal)
    .finally(cancel);
  turn.done(isAway(refreshed) ? 'unavailable' : 'answered');
  if (refreshed.ok) {
    const { accessTokenLifeMs, claims, isPartial } = refreshed.value;
    return write(
      {
        ...session,
        ...keepClaims(
          isPartial ? joinClaims({ idToken: claims, earlier: known(session) }) : claims,
        ),
        ...planValidation(lifetimes, now(), session.id, true, accessTokenLifeMs),
      },
      refreshed.value.tokens,
    );
  }
  const refusal = refreshed.error;
  switch (refusal.reason) {
    case 'unreachable':
      // What was sent earlier stays noted. Where this fails a refusal is reported as `renewal_lost`, no worse.
      if (!stored.renewalSent)
        await store
          .withdrawRenewalSent(stored.id, stored.generation, holder)
          .catch(() => undefined);
      return { kind: 'postponed', retryAfterMs: 1_000, cause: refusal.cause };
    case 'unavailable':
    case 'rejected':
      return { kind: 'postponed', retryAfterMs: 1_000, cause: refusal.cause };
    case 'unverified':
      // The session proves nothing new: it counts no longer than it did, and stays undecided after that.
      return write(
        { ...session, revalidateAt: now() + UNVERIFIED_RETRY_MS },
        { ...tokens, refreshToken: refusal.refreshToken },
        { kind: 'kept', check: refusal.check },
      );
    case 'other_subject':
      return end('renewal_refused');
    case 'refused':
      // A token that was sent before, without an answer, was most likely spent by that.
      return end(stored.renewalSent ? 'renewal_lost' : 'renewal_refused', refusal.code);
  }

  async function write(
    renewed: Session,
    kept: IssuedTokens,
    outcome: RenewalOutcome = { kind: 'renewed', byUs: true },
  ): Promise<RenewalOutcome> {
    const next = { ...renewed, generation: stored.generation + 1 };
    // A key that has left the ring meanwhile ends what it sealed: sealing it anew would bring that back.
    if (openSession(ring, stored, handle) !== undefined) {
      const seal = () => toStoredSession(ring, next, kept, handle);
      if (await replace(dependencies, seal)) return outcome;
      // Another process's renewal stands, perhaps with this very refresh token.
      if ((await store.read(stored.id)) !== undefined) return { kind: 'renewed', byUs: false };
    }
    // Revoked while the IdP was asked: no session holds the new refresh token, and none shall. But a session that
    // was replaced by another sign-in shares its grant with that one, and giving it back would end both.
    const reason = await store.endReason(stored.id);
    if (kept.refreshToken !== undefined && reason !== 'session_replaced')
      await relyingParty.revoke(kept.refreshToken);
    return { kind: 'ended', byUs: undefined };
  }

  async function end(
    reason: 'renewal_refused' | 'renewal_lost',
    code?: string,
  ): Promise<RenewalOutcome> {
    // A process that renewed it meanwhile used the same token first; then that renewal stands.
    if (await store.revokeGeneration(stored.id, stored.generation, reason))
      return { kind: 'ended', byUs: reason, ...(code === undefined ? {} : { code }) };
    return (await store.read(stored.id)) === undefined
      ? { kind: 'ended', byUs: undefined }
      : { kind: 'renewed', byUs: false };
  }
}

/** Whether the IdP did not answer: a failure of the IdP, not a refusal. */
function isAway(refreshed: Result<RefreshedTokens, RefreshRefusal>): boolean {
  if (refreshed.ok) return false;
  return refreshed.error.reason === 'unavailable' || refreshed.error.reason === 'unreachable';
}

/** The claims that a session has kept. */
function known({ user, claims }: Session): Claims {
  return { ...claimsOfRecord(user), ...claims };
}

/** What the first of these handles that can opens; a planted cookie of the same id opens nothing. */
function openStored(
  ring: KeyRing,
  stored: StoredSession,
  handles: readonly SessionHandle[],
):
  | {
      readonly handle: SessionHandle;
      readonly session: Session;
      readonly tokens: IssuedTokens;
    }
  | undefined {
  for (const handle of handles) {
    const session = openSession(ring, stored, handle);
    const tokens = openTokens(ring, stored, handle);
    if (session !== undefined && tokens !== undefined) return { handle, session, tokens };
  }
  return undefined;
}

async function replace(
  dependencies: RenewalDependencies,
  seal: () => StoredSession,
): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await dependencies.store.replace(seal());
    } catch (error) {
      if (attempt === WRITE_ATTEMPTS) throw error;
      await pause(dependencies, WRITE_AGAIN_MS);
    }
  }
}

/** Keeps a lease until stopped. A failure is left to its end: then another process takes over. */
function prolong({ store, schedule }: RenewalDependencies, id: number, holder: string): () => void {
  let cancel = schedule(PROLONG_EVERY_MS, again);
  let isStopped = false;
  function again(): void {
    store
      .lease(id, holder, SENT_LEASE_MS)
      .catch(() => undefined)
      .finally(() => {
        if (!isStopped) cancel = schedule(PROLONG_EVERY_MS, again);
      });
  }
  return () => {
    isStopped = true;
    cancel();
  };
}

function pause({ schedule }: RenewalDependencies, ms: number): Promise<void> {
  return new Promise((resolve) => {
    schedule(ms, resolve);
  });
}

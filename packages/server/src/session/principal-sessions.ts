/**
 * The sessions of a principal, seen and ended without their cookies.
 *
 * @module
 */

import type { Principal } from '@sallyport/protocol';
import type { KeyRing } from './key-ring.ts';
import {
  openWithoutSecret,
  ownerOfPrincipal,
  ownerOfSid,
  type Session,
  sessionEnd,
} from './session-record.ts';
import type {
  EndReason,
  RevocationReach,
  SessionOwner,
  SessionStore,
  StoredSession,
} from './session-store.ts';

/** Whose sessions the IdP has ended: of a subject, of one of its own sessions, or of both at once. */
export interface EndedAtIdp {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
  /** Epoch milliseconds at which the IdP ended them; later sign-ins stand. */
  readonly endedAt: number;
}

/** A part of all sessions, opened. */
export interface OpenedPage {
  /** Those that stand, the one used last first. */
  readonly sessions: readonly Session[];
  /** Ids of those that stand by their times, and that no key of the ring opens: no server admits them. */
  readonly sealed: readonly number[];
  readonly next: string | undefined;
}

/** More sessions of one principal than any person has. */
const LIST_MAX = 200;
/** The IdP's clock may be behind ours by this much, and its times are whole seconds. */
const IDP_CLOCK_BEHIND_MS = 31_000;
/** An IdP gives the time of a logout in whole seconds, rounded down. */
const IDP_WHOLE_SECOND_MS = 999;

/** Dependencies of {@link PrincipalSessions}. */
export interface PrincipalSessionsOptions {
  readonly store: SessionStore;
  readonly ring: KeyRing;
  readonly now: () => number;
}

/**
 * Lists and ends sessions for their owner, an operator or the IdP; who may is the caller's to decide.
 *
 * Rejects with `SP_STORE_UNAVAILABLE` or `SP_KEY_RING_UNUSABLE` when it cannot decide; then nothing is
 * promised to have ended.
 */
export class PrincipalSessions {
  readonly #store: SessionStore;
  readonly #ring: KeyRing;
  readonly #now: () => number;

  constructor({ store, ring, now }: PrincipalSessionsOptions) {
    this.#store = store;
    this.#ring = ring;
    this.#now = now;
  }

  /** The sessions that stand, the one used last first; looks at no more than `limit`. */
  async list(
    principal: Pick<Principal, 'issuer' | 'subject'>,
    limit: number = LIST_MAX,
  ): Promise<readonly Session[]> {
    const { key } = ownerOfPrincipal(principal);
    return this.#standing(await this.#store.listByPrincipal(key, limit));
  }

  /** A page of all sessions that stand. For operators. */
  async page(cursor: string | undefined, limit: number): Promise<OpenedPage> {
    const { sessions, next } = await this.#store.list(cursor, limit);
    const now = this.#now();
    const sealed = sessions.filter(
      (each) => now < sessionEnd(each) && openWithoutSecret(this.#ring, each) === undefined,
    );
    return { sessions: this.#standing(sessions), sealed: sealed.map(({ id }) => id), next };
  }

  /** The session with this id, of any owner, when it stands. For operators. */
  async find(id: number): Promise<Session | undefined> {
    const stored = await this.#store.read(id);
    return stored === undefined ? undefined : this.#standing([stored])[0];
  }

  /**
   * Ends one session of a principal, for every process; resolves once that is durable.
   *
   * @param id - Untrusted: another principal's session is left alone.
   *
   * @returns Whether there was such a session.
   */
  async end(
    principal: Pick<Principal, 'issuer' | 'subject'>,
    id: number,
    reason: EndReason = 'session_revoked',
  ): Promise<boolean> {
    const stored = await this.#store.read(id);
    const { key } = ownerOfPrincipal(principal);
    if (stored === undefined || !Buffer.from(key).equals(stored.principalKey)) return false;
    await this.#store.revoke(id, reason);
    return true;
  }

  /**
   * Ends every session of a principal, those being signed in to as well.
   *
   * @returns The ended ids.
   */
  async endAll(
    principal: Pick<Principal, 'issuer' | 'subject'>,
    reason: EndReason = 'session_revoked',
  ): Promise<readonly number[]> {
    const reach = { sessionsUpTo: Number.MAX_SAFE_INTEGER, signInsUpTo: this.#now() };
    return this.#store.revokeAll(ownerOfPrincipal(principal), reach, reason);
  }

  /**
   * Ends what the IdP has ended. A sign-in started later stands, so that a message delivered late ends nothing
   * new. Delivery at most once is the caller's duty.
   *
   * @returns The ended ids.
   *
   * @see [OIDC Back-Channel Logout 1.0 section 2.7](https://openid.net/specs/openid-connect-backchannel-1_0.html#BCActions)
   */
  async endAtIdp(ended: EndedAtIdp): Promise<readonly number[]> {
    const { issuer, subject, sid, endedAt } = ended;
    const now = this.#now();
    const reach: RevocationReach = {
      sessionsUpTo: Math.min(endedAt + IDP_CLOCK_BEHIND_MS, now),
      signInsUpTo: Math.min(endedAt + IDP_WHOLE_SECOND_MS, now),
    };
    const end = (owner: SessionOwner, within: RevocationReach) =>
      this.#store.revokeAll(owner, within, 'session_revoked');
    if (sid === undefined) {
      return subject === undefined ? [] : end(ownerOfPrincipal({ issuer, subject }), reach);
    }
    // A sid is one session of the IdP and no later one: no clock has to say which is meant.
    const sessionsUpTo = Number.MAX_SAFE_INTEGER;
    const ids = await end(ownerOfSid(issuer, sid), { ...reach, sessionsUpTo });
    if (subject === undefined) return ids;
    // Where sign-ins bring no `sid`, it is unknown which of a subject's sessions is meant: all of them.
    const { key } = ownerOfPrincipal({ issuer, subject });
    return [...ids, ...(await end({ kind: 'principal_without_sid', key }, reach))];
  }

  #standing(stored: readonly StoredSession[]): readonly Session[] {
    const now = this.#now();
    return stored
      .map((each) => openWithoutSecret(this.#ring, each))
      .filter((session): session is Session => session !== undefined && now < sessionEnd(session))
      .toSorted((one, other) => other.lastUsedAt - one.lastUsedAt);
  }
}

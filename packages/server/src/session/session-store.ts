/**
 * Port: where sessions live.
 *
 * @module
 */

/** A session as it is stored: two sealed parts, and in the clear only what the store must search or sweep by. */
export interface StoredSession {
  /** 48 bits; the cookie names it. */
  readonly id: number;
  /** Counts replacements; a writer that read an older one loses. */
  readonly generation: number;
  /** Sealed under the key ring: principal and times of the session. */
  readonly metadata: Uint8Array;
  /** Sealed under key ring and cookie secret: the tokens. */
  readonly tokens: Uint8Array;
  /** Epoch milliseconds. */
  readonly lastUsedAt: number;
  /** Epoch milliseconds after which the row may be swept, whatever its use. */
  readonly absoluteEnd: number;
  /** Milliseconds a session may stay unused. */
  readonly idleTimeoutMs: number;
  /** Hash of (issuer, subject): finds a principal's sessions without a scan. */
  readonly principalKey: Uint8Array;
  /** Hash of (issuer, sid), when the IdP gave a `sid`. */
  readonly sidKey: Uint8Array | undefined;
  /** Epoch milliseconds at which its sign-in was started: what was revoked later does not begin. */
  readonly signInAt: number;
  /** Whether this generation's refresh token has left for the IdP: without an answer it may be spent. */
  readonly renewalSent: boolean;
}

/** The part of a stored session that a verdict needs. */
export type StoredMetadata = Pick<StoredSession, 'id' | 'generation' | 'metadata' | 'lastUsedAt'>;

/** Why a session ended before its time. Stable: on the wire as `reason`, and in the audit log. */
export type EndReason =
  /** The person signed out. */
  | 'signed_out'
  /** The same browser signed in again. */
  | 'session_replaced'
  /** An operator, the person's account page, or the IdP ended it. */
  | 'session_revoked'
  /** The IdP no longer stands by it. */
  | 'renewal_refused'
  /** A renewal was sent and its answer lost, so that its refresh token is spent. */
  | 'renewal_lost';

/**
 * Whose sessions are meant: those of a principal, those of one session at the IdP, or those of a principal
 * for which the session at the IdP is unknown.
 */
export interface SessionOwner {
  readonly kind: 'principal' | 'sid' | 'principal_without_sid';
  /** {@link StoredSession.sidKey} for `sid`, else {@link StoredSession.principalKey}. */
  readonly key: Uint8Array;
}

/** How far a revocation reaches; both in epoch milliseconds of {@link StoredSession.signInAt}, inclusive. */
export interface RevocationReach {
  /** Of the sessions there are; `Number.MAX_SAFE_INTEGER` for every one. */
  readonly sessionsUpTo: number;
  /** Of sign-ins under way: a session of theirs ends as it is created. */
  readonly signInsUpTo: number;
}

/** `taken`: `holder` has the turn. `under_way`: another one has it. `claimed`: there is nothing left to do. */
export type Turn = 'taken' | 'under_way' | 'claimed';

/** A part of all sessions. */
export interface SessionPage {
  readonly sessions: readonly StoredSession[];
  /** Asks for the next part; `undefined` after the last. */
  readonly next: string | undefined;
}

/** Sessions ended since the last look; the reader drops what it remembers of them. */
export interface RevocationsSeen {
  /** Ended session ids. */
  readonly sessions: readonly number[];
  /** Whether so much was missed that everything remembered must go. */
  readonly all: boolean;
}

/**
 * Sessions of one deployment, shared by all its processes.
 *
 * Every method rejects with `SP_STORE_UNAVAILABLE` when the store cannot be used; a caller then decides
 * nothing, and never admits. What resolved has happened: a created or ended session survives the
 * process. Implementations run the contract suite in `packages/testing/src/store-contracts`.
 */
export interface SessionStore {
  /**
   * Stores a new session and, in the same transaction, ends the one it replaces.
   *
   * A session whose owner was revoked after its sign-in started ({@link revokeAll}) is ended in the
   * same transaction, with that reason.
   *
   * @returns `false` when the id is taken: draw another.
   */
  create(session: StoredSession, replaces: number | undefined): Promise<boolean>;
  /** The stored session, also when it is past its end; `undefined` when there is none. */
  read(id: number): Promise<StoredSession | undefined>;
  /** What {@link read} gives, as far as a verdict needs it: asked for in the path of requests. */
  readMetadata(id: number): Promise<StoredMetadata | undefined>;
  /** Notes a use; never moves backwards, and does nothing for a session that is gone. */
  touch(id: number, lastUsedAt: number): Promise<void>;
  /**
   * Puts a renewed session in the place of the generation before it (compare and set).
   *
   * Keeps the later of both last uses. Does not bring back a session that is gone.
   *
   * @returns Whether the stored generation was `session.generation - 1`; else nothing happened.
   */
  replace(session: StoredSession): Promise<boolean>;
  /**
   * Notes that a generation's refresh token is about to leave for the IdP, and prolongs the lease with it.
   *
   * @param holder - The holder of the lease; a holder that has lost it may not send.
   * @param forMs - The lease ends after this, unless it is taken again.
   *
   * @returns `false` when the session is gone or of another generation, or another holder has the lease: then
   *   nothing may be sent.
   */
  noteRenewalSent(id: number, generation: number, holder: string, forMs: number): Promise<boolean>;
  /**
   * Takes a note of {@link noteRenewalSent} back: nothing can have reached the IdP. Does nothing when the
   * session is of another generation, or the lease is not `holder`'s.
   */
  withdrawRenewalSent(id: number, generation: number, holder: string): Promise<void>;
  /**
   * Takes or prolongs the lease on a session's renewal; at any time at most one holder has it.
   *
   * @param holder - Names one renewal under way, not its process.
   * @param forMs - It ends after this, unless it is taken again.
   *
   * @returns Whether `holder` has it now.
   */
  lease(id: number, holder: string, forMs: number): Promise<boolean>;
  /** Gives a lease back; does nothing when another holder has it. */
  release(id: number, holder: string): Promise<void>;
  /**
   * Ends a session for every process; resolves once that is durable. No error when it is gone already.
   *
   * @param reason - Reported to a later request with its cookie; `signed_out` by default.
   */
  revoke(id: number, reason?: EndReason): Promise<void>;
  /**
   * Ends a session as {@link revoke} does, but only while it is of a given generation.
   *
   * @returns Whether it was.
   */
  revokeGeneration(id: number, generation: number, reason: EndReason): Promise<boolean>;
  /**
   * Ends every session of an owner within reach, for every process; resolves once that is durable.
   *
   * Does not scan. A session created at the same time is ended too, by this call or by {@link create}.
   *
   * @returns The ended ids.
   */
  revokeAll(
    owner: SessionOwner,
    reach: RevocationReach,
    reason: EndReason,
  ): Promise<readonly number[]>;
  /** Why a session that is gone was ended; `undefined` when it was not, or so long ago (an hour at least) that it is forgotten. */
  endReason(id: number): Promise<EndReason | undefined>;
  /** A principal's sessions, at most `limit`, also those past their end. Does not scan. */
  listByPrincipal(principalKey: Uint8Array, limit: number): Promise<readonly StoredSession[]>;
  /**
   * All sessions, a part at a time, in no particular order; for operators, never in a request's path.
   *
   * @param cursor - `next` of the part before; `undefined` for the first.
   * @param limit - About how many.
   *
   * A session that stands throughout is in some part, perhaps in two.
   */
  list(cursor: string | undefined, limit: number): Promise<SessionPage>;
  /**
   * Takes the turn to carry out what a single-use identifier stands for, before it is claimed for good by
   * {@link claimOnce}: of several callers at once one has it; a caller that fails leaves it to the next.
   *
   * @param key - As `claimOnce` will get it.
   * @param holder - Names one attempt, not its process.
   * @param forMs - The turn ends after this; 0 gives it back at once.
   */
  takeTurn(key: Uint8Array, holder: string, forMs: number): Promise<Turn>;
  /**
   * Claims a single-use identifier. Does not ask whose turn it is.
   *
   * @param key - Hash of the identifier with its namespace.
   * @param expiresAt - Epoch milliseconds after which it may be forgotten.
   *
   * @returns `true` exactly once, however many ask at the same time.
   */
  claimOnce(key: Uint8Array, expiresAt: number): Promise<boolean>;
  /**
   * Sessions that other processes ended since the last call; synchronous, for the hot path.
   *
   * @throws {SallyportError} `SP_STORE_UNAVAILABLE`: nothing remembered may be used.
   */
  revocations(): RevocationsSeen;
  /** Removes a bounded number of sessions past their end, and forgotten claims; returns how many. */
  sweep(limit: number): Promise<number>;
  close(): void;
}

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
  /** Sealed under the key ring: who, since when, until when. */
  readonly metadata: Uint8Array;
  /** Sealed under key ring and cookie secret: the tokens. */
  readonly tokens: Uint8Array;
  /** Epoch milliseconds. */
  readonly lastUsedAt: number;
  /** Epoch milliseconds after which the row may be swept, whatever its use. */
  readonly absoluteEnd: number;
  /** Milliseconds a session may stay unused. */
  readonly idleMs: number;
  /** Hash of (issuer, subject): finds a principal's sessions without a scan. */
  readonly principalKey: Uint8Array;
  /** Hash of (issuer, sid), when the IdP gave a `sid`. */
  readonly sidKey: Uint8Array | undefined;
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
 * Every method rejects with `SP_STORE_UNAVAILABLE` when it cannot tell; a caller then decides
 * nothing, and never admits. What resolved has happened: a created or ended session survives the
 * process. Implementations run {@link file://./session-store-contract.ts}.
 */
export interface SessionStore {
  /**
   * Stores a new session and, in the same transaction, ends the one it replaces.
   *
   * @returns `false` when the id is taken: draw another.
   */
  create(session: StoredSession, replaces: number | undefined): Promise<boolean>;
  /** The stored session, also when it is past its end; `undefined` when there is none. */
  read(id: number): Promise<StoredSession | undefined>;
  /** Notes a use; never moves backwards, and does nothing for a session that is gone. */
  touch(id: number, lastUsedAt: number): Promise<void>;
  /** Ends a session for every process; resolves once that is durable. No error when it is gone already. */
  revoke(id: number): Promise<void>;
  /**
   * Claims a single-use identifier.
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

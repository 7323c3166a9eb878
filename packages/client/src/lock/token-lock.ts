/**
 * One process at a time changes the tokens of one key.
 *
 * @module
 */

/** How long to wait, and what ends the wait. */
export interface LockWait {
  /** Milliseconds after which the wait is given up. */
  readonly waitMs: number;
  /** Ends the wait at once; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** The right to change the tokens of one key, until it is released or taken over. */
export interface LockLease {
  /**
   * Whether the lock is still this holder's. A holder that was suspended for longer than the others
   * wait for a sign of life has lost it, and MUST NOT write any more. `false` if unknown.
   */
  isHeld(): boolean;
  /** Lets the next one in, and never throws. More than once does no harm; a lost lock is left alone. */
  release(): void;
}

/** Keeps the others out, across processes or within one. */
export interface TokenLock {
  /**
   * Waits for the lock.
   *
   * @param name - What is locked: a token key's id, `[0-9a-f]{64}`.
   *
   * @throws {SallyportError} `SP_TOKEN_LOCK_TIMEOUT` when another process held it for the whole wait;
   *   `SP_TOKEN_STORE_UNUSABLE` when its folder cannot be used.
   */
  acquire(name: string, wait: LockWait): Promise<LockLease>;
}

/**
 * Verdicts kept in memory, so that a session is opened once and not at every request.
 *
 * @module
 */

import { hash } from 'node:crypto';
import type { Session } from '../session/session-record.ts';
import type { Admitted, Identity } from './verdict.ts';

/** What is kept of one admitted session cookie. */
export interface RememberedSession {
  /** Changes as uses are noted; everything else is as it was read. */
  session: Session;
  readonly identity: Identity;
  /** The verdict as it stands until the next use is noted: most requests get this very object. */
  admitted: Admitted;
  /** Epoch milliseconds after which the store is read again. */
  readonly readAgainAt: number;
  readonly generation: number;
}

/**
 * A bounded cache of admitted sessions by the hash of their cookie value.
 *
 * Only admissions are kept. An entry goes when its session is dropped, when everything is, when its
 * generation is no longer the current one, or when it has to make room; the oldest goes first.
 */
export class RememberedSessions {
  readonly #limit: number;
  readonly #byHash = new Map<string, RememberedSession>();
  readonly #hashBySession = new Map<number, string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Number of entries. */
  get size(): number {
    return this.#byHash.size;
  }

  /** @param cookieValue - Untrusted; looked up by its SHA-256, so that no comparison depends on the secret. */
  get(cookieValue: string): RememberedSession | undefined {
    return this.#byHash.get(hash('sha256', cookieValue, 'base64url'));
  }

  /** Keeps an admission; the one the session had before goes. */
  set(cookieValue: string, remembered: RememberedSession): void {
    const key = hash('sha256', cookieValue, 'base64url');
    this.drop(remembered.session.id);
    this.#byHash.set(key, remembered);
    this.#hashBySession.set(remembered.session.id, key);
    if (this.#byHash.size <= this.#limit) return;
    const oldest = this.#byHash.values().next().value;
    if (oldest !== undefined) this.drop(oldest.session.id);
  }

  /** Forgets one session. */
  drop(sessionId: number): void {
    const key = this.#hashBySession.get(sessionId);
    if (key === undefined) return;
    this.#hashBySession.delete(sessionId);
    this.#byHash.delete(key);
  }

  /** Forgets everything. */
  clear(): void {
    this.#byHash.clear();
    this.#hashBySession.clear();
  }
}

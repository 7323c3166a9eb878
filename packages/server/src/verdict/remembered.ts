/**
 * Verdicts kept in memory, so that a session is opened once and not at every request.
 *
 * @module
 */

import { hash } from 'node:crypto';
import { readSessionId } from '../session/session-id.ts';
import { BoundedCache } from './bounded-cache.ts';
import type { Admitted, Identity, SessionView } from './verdict.ts';

/** What is kept of one admitted session cookie; times in epoch milliseconds. */
export interface RememberedSession {
  readonly identity: Identity;
  /** The verdict as it stands until the next use is noted: most requests get this very object. */
  admitted: Admitted & { readonly session: SessionView };
  lastUsedAt: number;
  readonly idleTimeoutMs: number;
  readonly revalidateAt: number | undefined;
  readonly confirmedUntil: number | undefined;
  readonly validUntil: number | undefined;
  /** When the store is read again. */
  readonly readAgainAt: number;
  readonly generation: number;
}

interface Entry {
  /** SHA-256 of the whole cookie value: the id alone admits no caller. */
  readonly digest: string;
  readonly remembered: RememberedSession;
}

const SWEEP_EVERY_MS = 60_000;

/**
 * A bounded cache of admitted sessions, found by the id in their cookie and compared by its hash.
 *
 * Only admissions are kept. An entry goes when its session is dropped, when everything is, or when it has
 * to make room; what was not asked for lately goes first. Whether it still counts is its reader's to say.
 */
export class RememberedSessions {
  readonly #byId: BoundedCache<number, Entry>;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(limit: number) {
    this.#byId = new BoundedCache(limit);
  }

  /** Number of entries. */
  get size(): number {
    return this.#byId.size;
  }

  /**
   * @param cookieValue - Untrusted; compared by its SHA-256, so that the time it takes says nothing
   *   about the secret.
   */
  get(cookieValue: string): RememberedSession | undefined {
    const id = readSessionId(cookieValue);
    const entry = id === undefined ? undefined : this.#byId.get(id);
    return entry !== undefined && entry.digest === digestOf(cookieValue)
      ? entry.remembered
      : undefined;
  }

  /**
   * Keeps an admission; the one the session had before goes, and once a minute all that count no longer:
   * people who have gone home take no memory.
   *
   * @param now - Epoch milliseconds.
   */
  set(cookieValue: string, remembered: RememberedSession, now: number): void {
    if (now - this.#sweptAt >= SWEEP_EVERY_MS || now < this.#sweptAt) {
      this.#sweptAt = now;
      this.#byId.sweep((entry) => now >= entry.remembered.readAgainAt);
    }
    this.#byId.offer(remembered.admitted.session.id, () => ({
      digest: digestOf(cookieValue),
      remembered,
    }));
  }

  /** Forgets one session. */
  drop(sessionId: number): void {
    this.#byId.delete(sessionId);
  }

  /** Forgets everything. */
  clear(): void {
    this.#byId.clear();
  }
}

function digestOf(cookieValue: string): string {
  return hash('sha256', cookieValue, 'base64url');
}

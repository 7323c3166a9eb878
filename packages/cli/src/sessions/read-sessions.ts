/**
 * Reads sessions for a list: all of them page by page, or one principal's.
 *
 * @module
 */

import type { PrincipalSessions } from '@sallyport/server';
import { assertRingOpens, otherRing, PAGE_SIZE } from './open-sessions.ts';
import { RecentRowKeeper } from './recent-rows.ts';
import { type SessionRow, toSessionRow } from './session-row.ts';

/** What there is to list. */
export interface Listed {
  /** The one used last first. */
  readonly rows: readonly SessionRow[];
  /** How many stand; `undefined` when only this is known: more than are listed. */
  readonly total: number | undefined;
  /** How many stand that no key of the ring opens. */
  readonly sealed: number;
}

/** More sessions of one principal than this are not counted. */
const OF_ONE_MAX = 1_000;

/** What {@link readSessions} is asked. */
export interface ReadOptions {
  /** Whose sessions; `undefined` for all. */
  readonly principal: { readonly issuer: string; readonly subject: string } | undefined;
  /** At most so many rows are kept and given back. */
  readonly limit: number;
  /** Named when it is the wrong one. */
  readonly keyRingFile: string;
  /** Called now and then with the number of sessions that were read. */
  readonly onProgress: (count: number) => void;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/**
 * Reads the sessions that stand. Memory is bounded by the limit, not by how many there are.
 *
 * @throws {SallyportError} `SP_STORE_UNAVAILABLE` when the store does not answer, `SP_KEY_RING_UNUSABLE`
 *   when the ring is not this store's.
 */
export async function readSessions(
  sessions: Pick<PrincipalSessions, 'page' | 'list'>,
  { principal, limit, keyRingFile, onProgress, signal }: ReadOptions,
): Promise<Listed> {
  if (principal !== undefined) {
    // Those used last are known only when all were looked at.
    const most = Math.max(limit, OF_ONE_MAX);
    const found = await sessions.list(principal, most + 1);
    if (found.length === 0) await assertRingOpens(sessions, keyRingFile);
    return {
      rows: found.slice(0, limit).map(toSessionRow),
      total: found.length > most ? undefined : found.length,
      sealed: 0,
    };
  }
  const keeper = new RecentRowKeeper(limit);
  let cursor: string | undefined;
  let sealed = 0;
  let count = 0;
  do {
    signal.throwIfAborted();
    const page = await sessions.page(cursor, PAGE_SIZE);
    for (const session of page.sessions) keeper.add(toSessionRow(session));
    sealed += page.sealed.length;
    count += page.sessions.length;
    onProgress(count);
    cursor = page.next;
  } while (cursor !== undefined);
  const { rows, total } = keeper.result();
  if (rows.length === 0 && sealed > 0) throw otherRing(keyRingFile, sealed);
  return { rows, total, sealed };
}

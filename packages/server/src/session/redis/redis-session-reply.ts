/**
 * Sessions in the server's replies.
 *
 * @module
 */

import type { StoredSession } from '../session-store.ts';
import { storeUnavailable } from './redis-failure.ts';
import { parseIds } from './redis-layout.ts';
import { decodeRecord } from './redis-record.ts';
import type { RedisReply } from './redis-reply.ts';

/** Ids that stand one after the other in one reply; none in a reply that is not bytes. */
export function toIds(reply: RedisReply): readonly number[] {
  return Buffer.isBuffer(reply) ? parseIds(reply) : [];
}

/** Sessions of a reply in which ids and records stand in turn. */
export function toSessions(found: readonly RedisReply[]): readonly StoredSession[] {
  return found.flatMap((id, index) => {
    const record = found[index + 1] ?? null;
    return index % 2 === 0 && Buffer.isBuffer(record)
      ? toIds(id).map((each) => toSession(each, record))
      : [];
  });
}

/**
 * One record, opened.
 *
 * @throws {SallyportError} `SP_STORE_UNAVAILABLE` for a record of another release.
 */
export function toSession(id: number, bytes: Buffer): StoredSession {
  const session = decodeRecord(id, bytes);
  if (session === undefined) throw storeUnavailable('a record was written by another release');
  return session;
}

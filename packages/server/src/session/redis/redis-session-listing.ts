/**
 * Lists of the sessions in the Redis store, for the operator's commands and the account page.
 *
 * @module
 */

import type { SessionStore } from '../session-store.ts';
import { type RedisLayout, toOwnerBytes } from './redis-layout.ts';
import { toList } from './redis-reply.ts';
import { LIST, LIST_BY_OWNER, type RunScript } from './redis-scripts.ts';
import { toSessions } from './redis-session-reply.ts';

const FIRST_PAGE = '0';

/** The operations of the store that list sessions. */
export function createSessionListing(
  { prefix, ends }: RedisLayout,
  run: RunScript,
): Pick<SessionStore, 'listByPrincipal' | 'list'> {
  return {
    async listByPrincipal(key, limit) {
      const owner = toOwnerBytes({ kind: 'principal', key });
      return toSessions(toList(await run(LIST_BY_OWNER, [ends], [prefix, owner, limit])));
    },

    async list(cursor, limit) {
      const page = await run(LIST, [ends], [prefix, cursor ?? FIRST_PAGE, limit]);
      const [next, ...found] = toList(page);
      const after = String(next);
      return { sessions: toSessions(found), next: after === FIRST_PAGE ? undefined : after };
    },
  };
}

/**
 * How sessions in the Redis store end.
 *
 * @module
 */

import type { EndReason, SessionStore } from '../session-store.ts';
import type { DurableWrites, RunDurably } from './redis-durable-writes.ts';
import { type RedisLayout, toIdBytes, toOwnerBytes, toReasonDigit } from './redis-layout.ts';
import { toList } from './redis-reply.ts';
import type { RevocationLog } from './redis-revocation-log.ts';
import { REVOKE, REVOKE_ALL } from './redis-scripts.ts';
import { toIds } from './redis-session-reply.ts';

/** Sessions that one script ends: the server does nothing else meanwhile. */
const REVOKED_AT_A_TIME = 1_000;

/** What {@link createSessionEnds} is made of. */
export interface SessionEndsParts {
  readonly layout: RedisLayout;
  /** For writes that end sessions. */
  readonly ending: DurableWrites;
  /** Gets what this process ended. */
  readonly revocationLog: RevocationLog;
}

/** The operations of the store that end sessions. Each is durable before it resolves. */
export function createSessionEnds(
  { layout, ending, revocationLog }: SessionEndsParts,
  runDurably: RunDurably,
): Pick<SessionStore, 'revoke' | 'revokeGeneration' | 'revokeAll'> {
  const { prefix } = layout;
  return {
    async revoke(id, reason = 'signed_out') {
      await revoke(id, reason, undefined);
    },

    revokeGeneration: (id, generation, reason) => revoke(id, reason, generation),

    async revokeAll(owner, { sessionsUpTo, signInsUpTo }, reason) {
      const ended: number[] = [];
      for (;;) {
        const reply = await runDurably(ending, {
          script: REVOKE_ALL,
          keys: [layout.mark(owner)],
          args: [
            prefix,
            toOwnerBytes(owner),
            sessionsUpTo,
            signInsUpTo,
            toReasonDigit(reason),
            REVOKED_AT_A_TIME,
          ],
        });
        const some = toList(reply).flatMap(toIds);
        revocationLog.noteEnded(some);
        ended.push(...some);
        if (some.length < REVOKED_AT_A_TIME) return ended;
      }
    },
  };

  async function revoke(
    id: number,
    reason: EndReason,
    generation: number | undefined,
  ): Promise<boolean> {
    const reply = await runDurably(ending, {
      script: REVOKE,
      keys: [layout.record(id)],
      args: [prefix, toIdBytes(id), toReasonDigit(reason), generation ?? ''],
    });
    if (reply === 1) revocationLog.noteEnded([id]);
    return reply === 1;
  }
}

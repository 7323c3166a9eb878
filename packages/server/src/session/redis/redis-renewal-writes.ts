/**
 * Renewal in the Redis store: notes of what was sent to the IdP, and leases by the clock of the server.
 *
 * @module
 */

import type { SessionStore } from '../session-store.ts';
import type { DurableWrites, RunDurably } from './redis-durable-writes.ts';
import { type RedisLayout, toIdBytes } from './redis-layout.ts';
import {
  LEASE,
  NOTE_RENEWAL_SENT,
  RELEASE,
  type RunScript,
  WITHDRAW_RENEWAL_SENT,
} from './redis-scripts.ts';

/** The operations of the store that renewals use. */
export function createRenewalWrites(
  layout: RedisLayout,
  {
    run,
    runDurably,
    keeping,
  }: {
    readonly run: RunScript;
    readonly runDurably: RunDurably;
    readonly keeping: DurableWrites;
  },
): Pick<SessionStore, 'noteRenewalSent' | 'withdrawRenewalSent' | 'lease' | 'release'> {
  const { prefix } = layout;
  return {
    async noteRenewalSent(id, generation, holder, forMs) {
      const reply = await runDurably(keeping, {
        script: NOTE_RENEWAL_SENT,
        keys: [layout.record(id), layout.lease(id)],
        args: [prefix, toIdBytes(id), generation, holder, Math.ceil(forMs)],
      });
      return reply === 1;
    },

    async withdrawRenewalSent(id, generation, holder) {
      await run(
        WITHDRAW_RENEWAL_SENT,
        [layout.record(id), layout.lease(id)],
        [prefix, toIdBytes(id), generation, holder],
      );
    },

    async lease(id, holder, forMs) {
      return (await run(LEASE, [layout.lease(id)], [holder, Math.ceil(forMs)])) === 1;
    },

    async release(id, holder) {
      await run(RELEASE, [layout.lease(id)], [holder]);
    },
  };
}

/**
 * The ways a Redis deployment can be laid out, and how its one server for us is found in each.
 *
 * @module
 */

import { createClusterFinder } from './redis-cluster.ts';
import type { RedisAccess, RedisAddress } from './redis-connection.ts';
import { createSentinelFinder } from './redis-sentinel.ts';
import type { ServerFinder } from './redis-server-finder.ts';

/** Layout and addresses. */
export type RedisTopology =
  | { readonly mode: 'standalone'; readonly address: RedisAddress }
  | {
      readonly mode: 'sentinel';
      readonly sentinels: readonly RedisAddress[];
      readonly master: string;
      /** Password of the sentinels themselves; empty for none. */
      readonly password: () => string;
    }
  | { readonly mode: 'cluster'; readonly seeds: readonly RedisAddress[] };

/** Creates the finder of a topology. */
export function createServerFinder(
  topology: RedisTopology,
  access: RedisAccess,
  hashTag: string,
  deadlineMs: number,
): ServerFinder {
  switch (topology.mode) {
    case 'standalone':
      return { watches: false, find: async () => topology.address, close: () => {} };
    case 'sentinel': {
      const { sentinels, master, password } = topology;
      const ownAccess = { ...access, username: '', password, database: 0 };
      return createSentinelFinder({ sentinels, master, access: ownAccess, deadlineMs });
    }
    case 'cluster':
      return createClusterFinder({ seeds: topology.seeds, hashTag, access, deadlineMs });
  }
}

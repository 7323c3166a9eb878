/**
 * Redis for the sessions of either side, off the servers' core.
 *
 * @module
 */

import { type RedisServer, startRedis } from '../../interop/redis/redis-server.ts';
import type { Ends } from '../process/ends.ts';
import { LOAD_CORE, moveTo } from '../process/pinned.ts';

/** Starts one that keeps what it is given, as Sallyport asks of it. */
export async function startSessionRedis(ends: Ends): Promise<RedisServer> {
  const redis = await startRedis({ appendOnly: true });
  ends.add(() => redis.stop());
  moveTo(LOAD_CORE, redis.pid());
  return redis;
}

/**
 * The deployment on a shared Redis that every session suite runs on.
 *
 * @module
 */

import type { DeploymentUnderTest } from '../../conformance/sessions/deployment.ts';
import { ageKeys } from './key-ages.ts';
import { startRedis } from './redis-server.ts';

/** Lines of a configuration file that keeps sessions in Redis, with the given `session.redis`. */
export function redisFile(redis: Readonly<Record<string, unknown>>): readonly string[] {
  // YAML includes JSON.
  return [JSON.stringify({ session: { store: 'redis', redis } })];
}

/** Three `serve`, each with connections of its own to one server. */
export const REDIS_DEPLOYMENT: DeploymentUnderTest = {
  name: 'three processes over one Redis',
  async setUp() {
    const redis = await startRedis({ appendOnly: true });
    return {
      file: redisFile({ addresses: [`127.0.0.1:${redis.port}`] }),
      elapse: (ms) => ageKeys(redis, ms),
      tearDown: () => redis.stop(),
    };
  },
};

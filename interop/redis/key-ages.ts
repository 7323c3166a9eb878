/**
 * Time that passes for the keys of a Redis server, which keeps its own.
 *
 * @module
 */

import type { RedisServer } from './redis-server.ts';

/**
 * Leaves keys so much less time to live, as if that had passed; those that had no more are gone.
 *
 * @param pattern - Of the keys, as `KEYS` takes it; every key when absent.
 */
export async function ageKeys(server: RedisServer, ms: number, pattern = '*'): Promise<void> {
  const script = `
for _, key in ipairs(redis.call('KEYS', ARGV[2])) do
  local left = redis.call('PTTL', key)
  if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
end`;
  await server.send('EVAL', script, '0', String(ms), pattern);
}

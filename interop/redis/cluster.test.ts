import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REDIS_CLI, type RedisCluster, startRedisCluster } from './cluster.ts';
import { REDIS } from './redis-process.ts';

describe.skipIf(REDIS.isLeftOut || REDIS_CLI.isLeftOut)(
  'redis-server, redis-cli: a cluster of a test',
  () => {
    let cluster: RedisCluster;
    beforeAll(async () => {
      cluster = await startRedisCluster(true);
    });
    afterAll(() => cluster.stop());

    it('spreads keys over three servers, and each serves its own alone', async () => {
      const holders = new Set<unknown>();
      for (let key = 0; key < 40; key += 1) {
        const holder = await cluster.serverOf(`key-${key}`);
        holders.add(holder);
        expect(await holder.send('SET', `key-${key}`, 'x')).toBe('OK');
      }
      expect(holders).toEqual(new Set(cluster.servers));
      const holder = await cluster.serverOf('key-0');
      const other = cluster.servers.find((server) => server !== holder);
      await expect(other?.send('GET', 'key-0')).rejects.toThrow('MOVED');
    });

    it('serves nothing while one of them is gone, and everything when it is back', async () => {
      const gone = await cluster.serverOf('a');
      const [left] = cluster.servers.filter((server) => server !== gone);
      await gone.send('SET', 'a', '1');
      await gone.kill();
      const stateSeen = async () => String(await left?.send('CLUSTER', 'INFO'));
      await expect.poll(stateSeen, { timeout: 30_000 }).toContain('cluster_state:fail');
      await gone.restart();
      await expect.poll(stateSeen, { timeout: 30_000 }).toContain('cluster_state:ok');
      expect(await gone.send('GET', 'a')).toBe('1');
    });
  },
);

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { expectFailurePage } from '../../conformance/wire/sign-in.ts';
import { REDIS_CLI, type RedisCluster, startRedisCluster } from './cluster.ts';
import { testStore } from './redis-deployment.ts';
import { redisFile } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';
import {
  expectWorks,
  forgetsSession,
  type SharedSessions,
  startSharedSessions,
  statuses,
} from './shared-sessions.ts';

const serveOn = async (redis: Readonly<Record<string, unknown>>): Promise<SharedSessions> => {
  const shared = await startSharedSessions({ file: redisFile(redis) });
  onTestFinished(() => shared.stop());
  return shared;
};

/** In this order: at first no other test's keys are there, and at last a server is killed. */
describe.skipIf(REDIS.isLeftOut || REDIS_CLI.isLeftOut)(
  'redis-server, redis-cli: a cluster',
  () => {
    let cluster: RedisCluster;
    beforeAll(async () => {
      cluster = await startRedisCluster(true);
    });
    afterAll(() => cluster.stop());

    describe('under serve', () => {
      it('a cluster, one server of which is named: a session in two processes, on the one server that has the keys', async () => {
        const holder = await cluster.serverOf('{sallyport}:ends');
        const others = cluster.servers.filter((server) => server !== holder);
        const [named] = others;
        const addresses = [`127.0.0.1:${named?.port}`];
        await expectWorks(await serveOn({ mode: 'cluster', addresses, replicas: 0 }));
        expect(await holder.send('DBSIZE')).toBeGreaterThan(0);
        for (const other of others) expect(await other.send('DBSIZE')).toBe(0);
      });

      it('a cluster without replicas, where nothing is said of them: no sign-out is acknowledged, and the cookie stays', async () => {
        const addresses = cluster.servers.map(({ port }) => `127.0.0.1:${port}`);
        const shared = await serveOn({ mode: 'cluster', addresses });
        const cookie = await shared.signIn();
        expect(await statuses(shared, cookie)).toEqual([200, 200]);
        const answer = await shared.signOut(0, cookie);
        expectFailurePage(answer, 'store_unavailable', 503);
        expect(forgetsSession(answer)).toBe(false);
      });
    });

    testStore(
      'redis in a cluster',
      () => ({
        topology: {
          mode: 'cluster',
          seeds: cluster.servers.slice(0, 1).map(({ port }) => ({ host: '127.0.0.1', port })),
        },
      }),
      (key) => cluster.serverOf(key),
    );

    describe('of a test', () => {
      it('spreads keys over three servers, and each serves its own alone', async () => {
        const holders = new Set<unknown>();
        for (let key = 0; key < 10; key += 1) {
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
        // Else the file is written up to two seconds later on a busy disk, and a killed server forgets.
        await gone.send('CONFIG', 'SET', 'appendfsync', 'always');
        await gone.send('SET', 'a', '1');
        await gone.kill();
        const stateSeen = async () => String(await left?.send('CLUSTER', 'INFO'));
        await expect.poll(stateSeen, { timeout: 30_000 }).toContain('cluster_state:fail');
        await gone.restart();
        await expect.poll(stateSeen, { timeout: 30_000 }).toContain('cluster_state:ok');
        expect(await gone.send('GET', 'a')).toBe('1');
      });
    });
  },
);

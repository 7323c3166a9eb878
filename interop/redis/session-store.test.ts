import { readFileSync } from 'node:fs';
import { createStoredSession } from '@sallyport/testing/store-contracts/session-store-contract';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPENSSL } from './certificates.ts';
import { createDeployment, type DeploymentSettings, testStore } from './redis-deployment.ts';
import { REDIS } from './redis-process.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

const HOST = '127.0.0.1';
const RIGHTS = readRights();

/** The words of the access rule in docs/redis.md, its keys' pattern apart. */
function readRights(): readonly string[] {
  const page = readFileSync(new URL('../../docs/redis.md', import.meta.url), 'utf8');
  const [, line = ''] = /^user sallyport on \S+ ~\{sallyport\}:\* (.*)$/m.exec(page) ?? [];
  return line.split(' ');
}

describe.skipIf(REDIS.isLeftOut)('redis-server: one server', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  testStore(
    'redis',
    () => ({ topology: { mode: 'standalone', address: { host: HOST, port: server.port } } }),
    () => server,
  );
});

describe.skipIf(REDIS.isLeftOut || OPENSSL.isLeftOut)(
  'redis-server, openssl: TLS with certificates on both ends, and a user with the documented rights',
  () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await startRedis({
        tls: 'mutual',
        user: {
          name: 'sallyport',
          password: 'p w:@/ä',
          rules: `~{deployment-*}:* ${RIGHTS.join(' ')}`,
        },
      });
    });
    afterAll(() => server.stop());

    const settings = (): DeploymentSettings => {
      const { caFile = '', client } = server.access;
      const read = (path: string): string => readFileSync(path, 'utf8');
      return {
        topology: { mode: 'standalone', address: { host: HOST, port: server.port } },
        access: {
          username: 'sallyport',
          password: () => 'p w:@/ä',
          database: 0,
          tls: () => ({
            ca: read(caFile),
            cert: read(client?.certFile ?? ''),
            key: read(client?.keyFile ?? ''),
          }),
        },
      };
    };
    testStore('redis with TLS and narrow rights', settings, () => server);

    it('needs each of the documented rights: all of them were made use of', async () => {
      await server.send('CONFIG', 'RESETSTAT');
      const clock = new Clock();
      const store = createDeployment({ ...settings(), replicas: 1 }, clock, () => server).open();
      await store.create(createStoredSession(1), undefined);
      await store.create(createStoredSession(2, { sidKey: new Uint8Array(16) }), undefined);
      await store.touch(2, NOON + 1);
      await store.list(undefined, 1);
      await store.listByPrincipal(new Uint8Array(16), 1);
      await store.sweep(1);
      // One replica was asked for and there is none: the end itself was carried out.
      await expect(store.revoke(2)).rejects.toThrow('replicas');
      const used = new Set(
        [...String(await server.send('INFO', 'commandstats')).matchAll(/^cmdstat_([^:]+):/gm)].map(
          ([, name]) => `+${name}`,
        ),
      );
      expect(RIGHTS.filter((right) => !used.has(right))).toEqual([]);
      store.close();
    });
  },
);

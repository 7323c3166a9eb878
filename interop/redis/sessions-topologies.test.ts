import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { expectFailurePage } from '../../conformance/wire/sign-in.ts';
import { OPENSSL } from './certificates.ts';
import { REDIS_CLI, type RedisCluster, startRedisCluster } from './cluster.ts';
import { redisFile } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';
import { startRedis } from './redis-server.ts';
import {
  forgetsSession,
  isSignedOut,
  type SharedSessions,
  startSharedSessions,
  withOtherSecret,
} from './shared-sessions.ts';

const SEEN_WITHIN_MS = 1_000;
const PASSWORD = 'p w:@/ä of a user';

const serveOn = async (redis: Readonly<Record<string, unknown>>): Promise<SharedSessions> => {
  const shared = await startSharedSessions({ file: redisFile(redis) });
  onTestFinished(() => shared.stop());
  return shared;
};
const statuses = (shared: SharedSessions, cookie: string): Promise<readonly number[]> =>
  Promise.all([0, 1].map(async (index) => (await shared.me(index, cookie)).status));

/** In at one process, admitted by both, out at the other, refused by both; and nobody else. */
async function expectWorks(shared: SharedSessions): Promise<void> {
  const [cookie, other] = [await shared.signIn(), await shared.signIn()];
  expect(await statuses(shared, cookie)).toEqual([200, 200]);
  expect(await statuses(shared, withOtherSecret(cookie))).toEqual([401, 401]);
  expect(isSignedOut(await shared.signOut(1, cookie))).toBe(true);
  expect((await shared.me(1, cookie)).status).toBe(401);
  await expect
    .poll(() => statuses(shared, cookie), { interval: 20, timeout: SEEN_WITHIN_MS })
    .toEqual([401, 401]);
  expect(await statuses(shared, other)).toEqual([200, 200]);
}

describe.skipIf(REDIS.isLeftOut || OPENSSL.isLeftOut)('redis-server, openssl', () => {
  it('TLS with certificates on both ends, and a user with the documented rights alone: a session in two processes', async () => {
    const page = readFileSync(new URL('../../docs/redis.md', import.meta.url), 'utf8');
    const [, rules = ''] = /^user sallyport on \S+ (~\{sallyport\}:\* .*)$/m.exec(page) ?? [];
    const redis = await startRedis({
      appendOnly: true,
      tls: 'mutual',
      user: { name: 'sallyport', password: PASSWORD, rules },
    });
    onTestFinished(() => redis.stop());
    const folder = temporaryFolder();
    onTestFinished(() => folder.remove());
    const passwordLocation = join(folder.path, 'password');
    writeFileSync(passwordLocation, PASSWORD, { mode: 0o600 });
    const { caFile, client } = redis.access;
    const shared = await serveOn({
      addresses: [`localhost:${redis.port}`],
      username: 'sallyport',
      passwordLocation,
      tls: { enabled: true, caFile, ...client },
    });
    await expectWorks(shared);
    // No right was missed on the way, and nobody else has any.
    expect(shared.running(0).stderr() + shared.running(1).stderr()).not.toContain('"error"');
    expect(await redis.send('ACL', 'LOG')).toEqual([]);
  });
});

describe.skipIf(REDIS.isLeftOut || REDIS_CLI.isLeftOut)('redis-server, redis-cli', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster(true);
  });
  afterAll(() => cluster.stop());

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

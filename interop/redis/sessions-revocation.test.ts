import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisFile } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';
import { type RedisServer, startRedis } from './redis-server.ts';
import { isSignedOut, type SharedSessions, startSharedSessions } from './shared-sessions.ts';
import { type Choice, startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { otherStatuses, watch } from './watch.ts';

const ROUNDS = 5;
const SEEN_WITHIN_MS = 1_000;
const HERE = 0;
const ELSEWHERE = 1;
/** The connection on which a process learns what others have ended. */
const READS_LOG: Choice = ({ commands }) =>
  commands.some((command) => command.startsWith('XREAD '));

describe.skipIf(REDIS.isLeftOut)('redis-server: a sign-out in one of two processes', () => {
  let redis: RedisServer;
  let proxies: readonly TcpProxy[];
  let shared: SharedSessions;
  beforeAll(async () => {
    redis = await startRedis({ appendOnly: true });
    proxies = await Promise.all([HERE, ELSEWHERE].map(() => startTcpProxy(redis.port)));
    shared = await startSharedSessions({
      file: (index) => redisFile({ addresses: [`127.0.0.1:${proxies[index]?.port}`] }),
    });
  });
  afterAll(async () => {
    await shared.stop();
    for (const proxy of proxies) await proxy.close();
    await redis.stop();
  });

  const elsewhere = (): TcpProxy => {
    const proxy = proxies[ELSEWHERE];
    if (proxy === undefined) throw new Error('there is no such proxy');
    return proxy;
  };
  /** The other process reads the log, and has heard of everything so far. */
  const isReading = () =>
    expect
      .poll(() => elsewhere().connections().filter(READS_LOG).length, { timeout: 10_000 })
      .toBe(1);
  /** How often a record was read from Redis, by any process. */
  const reads = async () => {
    const stats = String(await redis.send('INFO', 'commandstats'));
    return Number(/^cmdstat_get:calls=(\d+)/m.exec(stats)?.[1]);
  };
  const remember = async (cookie: string) => {
    const isRemembered = async () => {
      const before = await reads();
      for (const index of [HERE, ELSEWHERE])
        expect((await shared.me(index, cookie)).status).toBe(200);
      return (await reads()) === before;
    };
    await expect.poll(isRemembered, { interval: 20, timeout: 10_000 }).toBe(true);
  };

  it('finds it remembered in both, so that no request asks Redis', async () => {
    const cookie = await shared.signIn();
    await isReading();
    await remember(cookie);
    const before = await reads();
    for (let count = 0; count < 50; count += 1)
      expect((await shared.me(count % 2, cookie)).status).toBe(200);
    expect(await reads()).toBe(before);
  });

  it.each([
    ['stands', () => undefined, () => undefined],
    ['is cut', () => elsewhere().cut(READS_LOG), () => undefined],
    ['is silent', () => elsewhere().hold(READS_LOG), () => elsewhere().release()],
    [
      'is cut and refused',
      () => {
        elsewhere().refuse();
        elsewhere().cut(READS_LOG);
      },
      () => elsewhere().admit(),
    ],
    [
      'is silent, and others are refused',
      () => {
        elsewhere().refuse();
        elsewhere().hold(READS_LOG);
      },
      async () => {
        elsewhere().release();
        await elsewhere().admit();
      },
    ],
  ])(
    'is refused there at once and elsewhere within 1 s, while the connection that tells of it %s',
    async (_, begin, end) => {
      const lasted: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const [cookie, other] = [await shared.signIn(), await shared.signIn()];
        await isReading();
        await remember(cookie);
        const [gone, live] = [cookie, other].map((each) =>
          watch(() => shared.me(ELSEWHERE, each), 5),
        );
        begin();
        expect(isSignedOut(await shared.signOut(HERE, cookie))).toBe(true);
        const acknowledgedAt = performance.now();
        expect((await shared.me(HERE, cookie)).status).toBe(401);
        await expect
          .poll(() => gone?.seen.at(-1)?.status, { interval: 5, timeout: 5_000 })
          .toBe(401);
        const refusedFrom = gone?.seen.length ?? 0;
        await expect.poll(() => gone?.seen.length).toBeGreaterThan(refusedFrom + 20);
        await end();
        await expect.poll(() => gone?.seen.length).toBeGreaterThan(refusedFrom + 40);
        await Promise.all([gone?.stop(), live?.stop()]);

        expect(otherStatuses(gone?.seen ?? [], [200, 401])).toEqual([]);
        const last = gone?.seen.findLast(({ status }) => status === 200);
        lasted.push((last?.askedAt ?? 0) - acknowledgedAt);
        expect(otherStatuses(gone?.seen.slice(refusedFrom) ?? [], [401])).toEqual([]);
        expect(otherStatuses(live?.seen ?? [], [200])).toEqual([]);
      }
      console.log(_, lasted.map(Math.round));
      expect(Math.max(...lasted)).toBeLessThan(SEEN_WITHIN_MS);
    },
  );
});

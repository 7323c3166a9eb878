import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askedAfter } from '../../conformance/sessions/watch.ts';
import { redisFile } from './redis-kind.ts';
import { REDIS } from './redis-process.ts';
import { type RedisServer, startRedis } from './redis-server.ts';
import {
  isSignedOut,
  otherStatuses,
  type SharedSessions,
  startSharedSessions,
} from './shared-sessions.ts';
import { type Choice, startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

const ROUNDS = 3;
const ENOUGH = 20;
const PAUSE_MS = 5;
const SEEN_WITHIN_MS = 1_000;
const HERE = 0;
const ELSEWHERE = 1;
/** The connection on which a process learns what others have ended. */
const READS_LOG: Choice = ({ commands }) =>
  commands.some((command) => command.startsWith('XREAD '));

/** What is done to that connection of the other process before the sign-out, and undone after it. */
interface ConnectionState {
  readonly state: string;
  begin?(): void;
  end?(): Promise<void>;
}

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
    // A process that has not heard from Redis for a moment, on a busy machine, reads a session again.
    const readsOfRequests = async () => {
      const before = await reads();
      for (let count = 0; count < 50; count += 1)
        expect((await shared.me(count % 2, cookie)).status).toBe(200);
      return (await reads()) - before;
    };
    await expect.poll(readsOfRequests, { timeout: 10_000 }).toBe(0);
  });

  const STATES: readonly ConnectionState[] = [
    { state: 'stands' },
    { state: 'is cut', begin: () => elsewhere().cut(READS_LOG) },
    {
      state: 'is silent',
      begin: () => elsewhere().hold(READS_LOG),
      end: async () => elsewhere().release(),
    },
    {
      state: 'is cut, and others are refused',
      begin() {
        elsewhere().refuse();
        elsewhere().cut(READS_LOG);
      },
      end: () => elsewhere().admit(),
    },
    {
      state: 'is silent, and others are refused',
      begin() {
        elsewhere().refuse();
        elsewhere().hold(READS_LOG);
      },
      async end() {
        elsewhere().release();
        await elsewhere().admit();
      },
    },
  ];
  it.each(STATES)(
    'is refused there at once and elsewhere within 1 s, while the connection that reports it $state',
    async ({ begin, end }) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const [cookie, other] = [await shared.signIn(), await shared.signIn()];
        await isReading();
        await remember(cookie);
        const gone = await shared.watch(ELSEWHERE, cookie, PAUSE_MS);
        const live = await shared.watch(ELSEWHERE, other, PAUSE_MS);
        await Promise.all([gone.more(ENOUGH), live.more(ENOUGH)]);
        begin?.();
        expect(isSignedOut(await shared.signOut(HERE, cookie))).toBe(true);
        const acknowledgedAt = performance.now();
        expect((await shared.me(HERE, cookie)).status).toBe(401);
        const isRefused = () => gone.answers.at(-1)?.status;
        await expect.poll(isRefused, { interval: 5 }).toBe(401);
        await gone.more(ENOUGH);
        await end?.();
        await gone.more(ENOUGH);
        await Promise.all([gone.stop(), live.stop()]);

        const admitted = gone.answers.filter(({ status }) => status === 200);
        const later = askedAfter(gone.answers, acknowledgedAt + SEEN_WITHIN_MS);
        expect(otherStatuses(later, [401])).toEqual([]);
        // Once refused, refused for good.
        expect(otherStatuses(gone.answers.slice(admitted.length), [401])).toEqual([]);
        expect(otherStatuses(live.answers, [200])).toEqual([]);
      }
    },
  );
});

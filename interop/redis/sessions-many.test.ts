import { randomBytes } from 'node:crypto';
import { createStoredSession } from '@sallyport/testing/store-contracts/session-store-contract';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRedisSessionStore } from '../../packages/server/src/session/redis/redis-session-store.ts';
import type {
  SessionOwner,
  SessionStore,
  StoredSession,
} from '../../packages/server/src/session/session-store.ts';
import type { Reply } from './raw-client.ts';
import { createSettings } from './redis-deployment.ts';
import { REDIS } from './redis-process.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

const MANY = 50_000;
const FEW = 500;
const SESSIONS_EACH = 5;
const METADATA_BYTES = [470, 530] as const;
const TOKENS_BYTES = [1_500, 2_600] as const;
const AT_ONCE = 250;
const ROUNDS = 200;
const BLOCKED_MS = 5;
/** As many as the server sweeps at a time. */
const PART = 32;
/** So many that Redis is held up by it: what the log of slow commands has to show. */
const TOO_MANY = 5_000;
/** Parts that another program on the machine may hold up. */
const ALLOWANCE = 0.01;
/** Commands that look at more than they were asked for. */
const SCANS = /^(?:scan|keys|hscan|sscan|zscan|hgetall|smembers|randomkey|zrange.*|sort)$/;

/** Of people who have five each, begun over eight hours. */
function createSession(index: number): StoredSession {
  const begunAt = NOON + Math.floor(index * (28_800_000 / MANY));
  return createStoredSession(index + 1, {
    metadata: sealed(index, METADATA_BYTES),
    tokens: sealed(index, TOKENS_BYTES),
    lastUsedAt: begunAt,
    absoluteEnd: begunAt + 604_800_000,
    principalKey: keyOf(Math.floor(index / SESSIONS_EACH)),
    sidKey: keyOf(1_000_000 + index),
    signInAt: begunAt - 30_000,
  });
}

function sealed(index: number, [least, most]: readonly [number, number]): Uint8Array {
  return new Uint8Array(randomBytes(least + ((index * 7_919) % (most - least))));
}

/** Spread as hashes are. */
function keyOf(number: number): Uint8Array {
  const key = new Uint8Array(16);
  const view = new DataView(key.buffer);
  view.setUint32(0, Math.imul(number, 2_654_435_761));
  view.setUint32(4, number);
  return key;
}

const personOf = (round: number, count: number): SessionOwner => ({
  kind: 'principal',
  key: keyOf((round * 37) % (count / SESSIONS_EACH)),
});

describe.skipIf(REDIS.isLeftOut)(`redis-server: ${MANY} sessions`, { timeout: 120_000 }, () => {
  const clock = new Clock();
  let redis: RedisServer;
  let many: SessionStore;
  let few: SessionStore;
  let sealedBytes = 0;
  let usedBytes = 0;

  const open = (keyPrefix: string): Promise<SessionStore> => {
    const address = { host: '127.0.0.1', port: redis.port };
    const topology = { mode: 'standalone', address } as const;
    return openRedisSessionStore(createSettings({ topology, keyPrefix }, clock.now));
  };
  const fill = async (store: SessionStore, count: number): Promise<number> => {
    let bytes = 0;
    for (let from = 0; from < count; from += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, (_, at) => createSession(from + at));
      for (const { metadata, tokens } of some) bytes += metadata.length + tokens.length;
      await Promise.all(some.map((session) => store.create(session, undefined)));
    }
    return bytes;
  };

  beforeAll(async () => {
    redis = await startRedis();
    const before = await redis.usedMemory();
    many = await open('many');
    sealedBytes = await fill(many, MANY);
    usedBytes = (await redis.usedMemory()) - before;
    few = await open('few');
    await fill(few, FEW);
  });
  afterAll(async () => {
    many.close();
    few.close();
    await redis.stop();
  });

  it('take at most one and a half times their sealed size of memory, indexes included', () => {
    const perSession = (bytes: number) => Math.round(bytes / MANY);
    console.log(
      `sealed ${perSession(sealedBytes)} bytes, used ${perSession(usedBytes)} bytes each`,
    );
    expect(usedBytes).toBeGreaterThan(sealedBytes);
    expect(usedBytes).toBeLessThanOrEqual(1.5 * sealedBytes);
  });

  it('end by themselves, every one of them: only the indexes and the log have no end', async () => {
    const script = `
local counts = {0, 0}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local isLasting = redis.call('TTL', key) < 0
  if isLasting and not string.find(key, '^{%w+}:ends$') and not string.find(key, '^{%w+}:o:%d+$')
    and not string.find(key, '^{%w+}:revoked$') then counts[1] = counts[1] + 1 end
  if not isLasting then counts[2] = counts[2] + 1 end
end
return counts`;
    expect(await redis.send('EVAL', script, '0')).toEqual([0, MANY + FEW]);
  });

  it('of others are not looked at when those of one person are listed or ended, and that takes hardly longer than among 500', async () => {
    const measure = async (
      name: string,
      rounds: number,
      work: (store: SessionStore, person: SessionOwner) => Promise<readonly unknown[]>,
    ) => {
      const times = { many: [] as number[], few: [] as number[] };
      await redis.send('CONFIG', 'RESETSTAT');
      for (let round = 0; round < rounds; round += 1)
        for (const [size, store, count] of [
          ['many', many, MANY],
          ['few', few, FEW],
        ] as const) {
          const begunAt = performance.now();
          const found = await work(store, personOf(round, count));
          times[size].push(performance.now() - begunAt);
          expect(found).toHaveLength(SESSIONS_EACH);
        }
      const [slow, fast] = [median(times.many), median(times.few)];
      console.log(`${name}: ${slow.toFixed(3)} ms among ${MANY}, ${fast.toFixed(3)} among ${FEW}`);
      expect(slow / fast).toBeLessThan(5);
      const calls = await countCalls();
      expect([...calls.keys()].filter((command) => SCANS.test(command))).toEqual([]);
      return calls;
    };
    const listed = await measure('list', ROUNDS, (store, { key }) =>
      store.listByPrincipal(key, 50),
    );
    const all = 2 * ROUNDS;
    expect(listed.get('hkeys')).toBe(all);
    expect(listed.get('get')).toBe(all * SESSIONS_EACH);
    const ends = 80;
    const reach = { sessionsUpTo: Number.MAX_SAFE_INTEGER, signInsUpTo: NOON };
    const ended = await measure('end', ends, (store, person) =>
      store.revokeAll(person, reach, 'session_revoked'),
    );
    expect(ended.get('hkeys')).toBe(2 * ends);
    // Their times and owners; of the record itself nothing.
    expect(ended.get('getrange')).toBe(2 * 2 * ends * SESSIONS_EACH);
    // The marks.
    expect(ended.get('get')).toBe(2 * ends);
  });

  it(`are swept in parts that hold up neither Redis nor this thread for more than ${BLOCKED_MS} ms, to the last index`, async () => {
    clock.set(NOON + 365 * 86_400_000);
    await redis.send('CONFIG', 'SET', 'slowlog-log-slower-than', String(BLOCKED_MS * 1_000));
    await redis.send('SLOWLOG', 'RESET');
    await redis.send('CONFIG', 'SET', 'slowlog-max-len', '10000');
    expect(await many.sweep(TOO_MANY)).toBe(TOO_MANY);
    expect(await countSlowScripts()).toBeGreaterThan(0);
    await redis.send('SLOWLOG', 'RESET');

    const calls: number[] = [];
    let swept = TOO_MANY;
    for (let isMore = true; isMore; ) {
      const begunAt = performance.now();
      const part = many.sweep(PART);
      calls.push(performance.now() - begunAt);
      const count = await part;
      swept += count;
      isMore = count === PART;
    }
    expect(swept).toBeGreaterThan(0.98 * MANY);
    const slow = await countSlowScripts();
    const held = calls.filter((ms) => ms > BLOCKED_MS).length;
    console.log(`${calls.length} parts; held up Redis ${slow}, this thread ${held} times`);
    expect(slow / calls.length).toBeLessThanOrEqual(ALLOWANCE);
    expect(held / calls.length).toBeLessThanOrEqual(ALLOWANCE);

    for (const pattern of ['{many}:s:*', '{many}:o:*', '{many}:ends'])
      expect(await redis.send('EVAL', `return #redis.call('KEYS', ARGV[1])`, '0', pattern)).toBe(0);
  });

  async function countSlowScripts(): Promise<number> {
    const entries = (await redis.send('SLOWLOG', 'GET', '-1')) as readonly Reply[];
    return entries.filter((entry) => String((entry as readonly Reply[])[3]).startsWith('EVAL'))
      .length;
  }

  /** How often each command was called since the last reset, from within scripts too. */
  async function countCalls(): Promise<ReadonlyMap<string, number>> {
    const stats = String(await redis.send('INFO', 'commandstats'));
    return new Map(
      [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name = '', calls]) => [
        name,
        Number(calls),
      ]),
    );
  }
});

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

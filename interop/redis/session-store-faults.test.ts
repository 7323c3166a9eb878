import { UNAVAILABLE } from '@sallyport/testing/store-contracts/session-store-contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ANSWERED_MS,
  createSession,
  EVERY_ONE,
  endAtLast,
  expectUnavailable,
  isDone,
  knows,
  OWNER,
  open,
  until,
  untilFresh,
} from './opened-store.ts';
import { REDIS } from './redis-process.ts';
import { type RedisOptions, type RedisServer, startRedis } from './redis-server.ts';
import { type Choice, startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** The connection that reads the log of ended sessions. */
const READS_LOG: Choice = ({ commands }) => commands.some((command) => command.startsWith('XREAD'));

/** Written before it is answered: what an everyday setting may still have in its hands when it is killed is not the point. */
const WRITTEN_AT_ONCE: RedisOptions = { lines: ['appendfsync always'] };

async function start(options: RedisOptions = {}): Promise<RedisServer> {
  const server = await startRedis({ appendOnly: true, ...options });
  onTestFinished(() => server.stop());
  return server;
}

async function startProxy(server: RedisServer): Promise<TcpProxy> {
  const proxy = await startTcpProxy(server.port);
  onTestFinished(() => proxy.close());
  return proxy;
}

describe.skipIf(REDIS.isLeftOut)('redis-server: a server that is away', () => {
  it.each([
    ['ended and started again', (server: RedisServer) => server.shutDown()],
    ['killed and started again', (server: RedisServer) => server.kill()],
  ])(
    '%s: no session is admitted meanwhile, and every session is known again afterwards',
    async (_, end) => {
      const server = await start(WRITTEN_AT_ONCE);
      const { store, log } = await open(server.port);
      await store.create(createSession(1), undefined);
      await store.create(createSession(2), undefined);
      await store.revoke(2, 'session_revoked');
      await untilFresh(store);
      await end(server);
      await until('what is remembered counts no more', () => store.revocations().all);
      await expectUnavailable(store);
      await server.restart();
      await until('it is there again', () => knows(store, 1));
      await untilFresh(store);
      expect(await store.read(2)).toBeUndefined();
      expect(await store.endReason(2)).toBe('session_revoked');
      await endAtLast(store, 1);
      expect(await store.read(1)).toBeUndefined();
      expect(log.map(({ event }) => event)).toEqual(
        expect.arrayContaining(['session_store_unusable', 'session_store_connected']),
      );
    },
  );

  it('is waited for when it is not there at the start, without holding that up', async () => {
    const server = await start();
    await server.shutDown();
    const begun = performance.now();
    const { store, log } = await open(server.port);
    expect(performance.now() - begun).toBeLessThan(ANSWERED_MS);
    expect(log.map(({ event }) => event)).toContain('session_store_unusable');
    await expectUnavailable(store);
    expect(store.revocations().all).toBe(true);
    await server.restart();
    await until('it is there', () => isDone(store.create(createSession(1), undefined)));
    await untilFresh(store);
  });

  it('has every acknowledged end and every acknowledged session after a kill in the middle of them', async () => {
    const server = await start(WRITTEN_AT_ONCE);
    const { store } = await open(server.port);
    const ended: number[] = [];
    const created: number[] = [];
    const work = Array.from({ length: 50 }, async (_, worker) => {
      for (let id = worker * 100_000 + 1; ; id += 2) {
        await store.create(createSession(id), undefined);
        created.push(id);
        await store.create(createSession(id + 1), undefined);
        await store.revoke(id + 1);
        ended.push(id + 1);
      }
    });
    const broken = Promise.allSettled(work);
    await until('many are ended', () => ended.length > 200);
    await server.kill();
    for (const outcome of await broken)
      expect(outcome).toMatchObject({ status: 'rejected', reason: UNAVAILABLE });
    await server.restart();
    await until('it is there again', () => isDone(store.read(1)));
    for (const id of ended) expect(await store.read(id)).toBeUndefined();
    for (const id of created) expect((await store.read(id))?.id).toBe(id);
  });

  it('that stands still is given up on in time, and in use again once it moves', async () => {
    const server = await start();
    const { store } = await open(server.port);
    await store.create(createSession(1), undefined);
    await untilFresh(store);
    server.pause();
    await expectUnavailable(store);
    expect(store.revocations().all).toBe(true);
    server.resume();
    await until('it answers again', () => isDone(store.read(2)));
    await untilFresh(store);
    // The end that was given up on was carried out when the server moved again, or it was not.
    await endAtLast(store, 1);
    expect(await store.read(1)).toBeUndefined();
  });

  it('that answers 3 s late gives no answer at all, and none to another question', async () => {
    const server = await start();
    const proxy = await startProxy(server);
    const { store } = await open(proxy.port);
    for (let id = 1; id <= 20; id += 1) await store.create(createSession(id), undefined);
    proxy.delay(3_000);
    await expectUnavailable(store);
    proxy.delay(0);
    await until('it answers again', () => knows(store, 20));
    for (let id = 2; id <= 20; id += 1) expect((await store.read(id))?.id).toBe(id);
    expect(await store.read(77)).toBeUndefined();
  });
});

describe.skipIf(REDIS.isLeftOut)('redis-server: a server that refuses', () => {
  it('that has become a replica is not asked any more, until it is a master again', async () => {
    const server = await start();
    const { store } = await open(server.port);
    await store.create(createSession(1), undefined);
    await server.refuseWrites('READONLY');
    await until('it is left', async () => !(await isDone(store.read(1))));
    await expectUnavailable(store);
    await server.acceptWrites();
    await until('it is in use again', () => isDone(store.revoke(1)));
    expect(await store.read(1)).toBeUndefined();
  });

  it('writes for want of replicas still serves reads, and acknowledges no end', async () => {
    const server = await start();
    const { store } = await open(server.port);
    await store.create(createSession(1), undefined);
    await server.refuseWrites('NOREPLICAS');
    await expect(store.revoke(1)).rejects.toEqual(UNAVAILABLE);
    await expect(store.revoke(1)).rejects.toThrow('too few replicas');
    expect((await store.read(1))?.id).toBe(1);
    await server.acceptWrites();
    await store.revoke(1);
    expect(await store.read(1)).toBeUndefined();
  });

  it('that is full takes no new session; uses, renewals and ends go on, and make room', async () => {
    const server = await start({ maxMemory: '4mb' });
    const { store } = await open(server.port);
    let count = 0;
    const fill = async (): Promise<void> => {
      for (;;) {
        await store.create(createSession(count + 1), undefined);
        count += 1;
      }
    };
    await expect(fill()).rejects.toThrow('the server is full (maxmemory)');
    expect(count).toBeGreaterThan(100);
    const used = Date.now() + 60_000;
    await store.touch(1, used);
    expect((await store.read(1))?.lastUsedAt).toBe(used);
    expect(await store.noteRenewalSent(1, 1, 'a', 60_000)).toBe(true);
    expect(await store.lease(1, 'a', 10_000)).toBe(true);
    expect(await store.lease(1, 'b', 10_000)).toBe(false);
    expect(await store.replace({ ...createSession(1), generation: 2 })).toBe(true);
    expect((await store.read(1))?.generation).toBe(2);
    await store.revoke(2, 'session_revoked');
    expect(await store.endReason(2)).toBe('session_revoked');
    expect(await store.revokeGeneration(3, 1, 'renewal_refused')).toBe(true);
    expect(await store.create(createSession(count + 1), 4)).toBe(true);
    expect(await store.read(4)).toBeUndefined();
    const ended = await store.revokeAll(OWNER, EVERY_ONE, 'session_revoked');
    expect(ended).toHaveLength(count - 2);
    expect(await store.create(createSession(5_000), undefined)).toBe(true);
  });

  it('the password is not used, is named nowhere, and is read again for the next attempt', async () => {
    const server = await start({ password: 'right-canary-5e1f' });
    let password = 'wrong-canary-93b7';
    const { store, log } = await open(server.port, {
      access: { username: '', password: () => password, tls: undefined, database: 0 },
    });
    const error: unknown = await store.read(1).catch((cause: unknown) => cause);
    expect(error).toEqual(UNAVAILABLE);
    const said = JSON.stringify(log);
    expect(said).toContain('the server refuses the user name or password');
    for (let each = error; each instanceof Error; each = each.cause)
      expect(`${each.message}${JSON.stringify(each)}`).not.toContain('canary');
    expect(said).not.toContain('canary');
    password = 'right-canary-5e1f';
    await until('it is let in', () => isDone(store.create(createSession(1), undefined)));
  });
});

describe.skipIf(REDIS.isLeftOut)('redis-server: a server that could lose sessions', () => {
  const UNSUITABLE: unknown = expect.objectContaining({ code: 'SP_STORE_UNSUITABLE' });

  it('because it evicts is refused at the start, with what to set', async () => {
    const server = await start();
    for (const policy of ['allkeys-lru', 'allkeys-random', 'volatile-lfu', 'volatile-ttl']) {
      await server.send('CONFIG', 'SET', 'maxmemory-policy', policy);
      await expect(open(server.port)).rejects.toEqual(UNSUITABLE);
      await expect(open(server.port)).rejects.toThrow(
        `the server would drop sessions when it is full: set its maxmemory-policy to noeviction (it is ${policy})`,
      );
    }
  });

  it('because it keeps no append-only file is refused at the start, unless that is accepted, with a warning', async () => {
    const server = await start({ appendOnly: false });
    await expect(open(server.port)).rejects.toEqual(UNSUITABLE);
    await expect(open(server.port)).rejects.toThrow('set its appendonly to yes');
    const { store, log } = await open(server.port, { allowWithoutAppendOnlyFile: true });
    expect(await store.create(createSession(1), undefined)).toBe(true);
    expect(log.map(({ event }) => event)).toEqual(['session_store_without_append_only_file']);
  });

  it('is taken without a word when it is as it should be', async () => {
    const server = await start();
    const { store, log } = await open(server.port);
    expect(await store.create(createSession(1), undefined)).toBe(true);
    expect(log).toEqual([]);
  });

  it('because its settings were changed is left soon, and in use again once that is mended', async () => {
    const server = await start();
    const { store, log } = await open(server.port);
    await store.create(createSession(1), undefined);
    await server.send('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');
    await until('it is left', async () => !(await isDone(store.read(1))));
    await expectUnavailable(store);
    expect(JSON.stringify(log)).toContain('(it is volatile-lru)');
    await server.send('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await until('it is in use again', () => knows(store, 1));
  });
});

describe.skipIf(REDIS.isLeftOut)('redis-server: the log of ended sessions', () => {
  it('cut alone goes on where it was: nothing is missed, and sessions are read meanwhile', async () => {
    const server = await start();
    const proxy = await startProxy(server);
    const [{ store }, { store: other }] = await Promise.all([open(proxy.port), open(server.port)]);
    await store.create(createSession(1), undefined);
    await untilFresh(store);
    for (let id = 1; id <= 5; id += 1) {
      proxy.cut(READS_LOG);
      await other.revoke(id);
      await until('the end is reported', () => {
        const { sessions, all } = store.revocations();
        return sessions.includes(id) || all;
      });
      expect(await store.read(id)).toBeUndefined();
      await untilFresh(store);
    }
  });

  it('not read for 700 ms makes everything remembered worthless, at every look, while sessions are read', async () => {
    const server = await start();
    const proxy = await startProxy(server);
    const [{ store }, { store: other }] = await Promise.all([open(proxy.port), open(server.port)]);
    await store.create(createSession(1), undefined);
    await store.create(createSession(2), undefined);
    await untilFresh(store);
    proxy.hold(READS_LOG);
    await other.revoke(1);
    await until('nothing remembered counts', () => store.revocations().all);
    for (let look = 1; look <= 5; look += 1) {
      expect(store.revocations().all).toBe(true);
      expect(await store.read(1)).toBeUndefined();
      expect((await store.read(2))?.id).toBe(2);
    }
    proxy.release();
    await untilFresh(store);
  });

  it('that was lost, or trimmed further than this process had read, has everything forgotten once', async () => {
    const server = await start();
    const { store } = await open(server.port);
    await store.revoke(1);
    for (const lose of [
      ['FLUSHALL'],
      ['XTRIM', '{sallyport}:revoked', 'MAXLEN', '0'],
      ['DEL', '{sallyport}:revoked'],
    ]) {
      await untilFresh(store);
      await server.send(...lose);
      await until('everything is forgotten', () => store.revocations().all);
      await untilFresh(store);
    }
  });

  it('reports every end, also when more end at once than it holds', async () => {
    const server = await start();
    const [{ store }, { store: other }] = await Promise.all([open(server.port), open(server.port)]);
    const ids = Array.from({ length: 2_500 }, (_, index) => index + 1);
    for (let from = 0; from < ids.length; from += 250)
      await Promise.all(
        ids.slice(from, from + 250).map((id) => store.create(createSession(id), undefined)),
      );
    await untilFresh(other);
    const ended = await store.revokeAll(OWNER, EVERY_ONE, 'session_revoked');
    expect(ended.toSorted((a, b) => a - b)).toEqual(ids);
    const seen = new Set<number>();
    await until('all ends are reported', () => {
      for (const id of other.revocations().sessions) seen.add(id);
      return seen.size === ids.length;
    });
  });
});

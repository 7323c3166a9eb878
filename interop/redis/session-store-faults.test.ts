import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LogFields } from '../../packages/server/src/observe/log.ts';
import {
  openRedisSessionStore,
  type RedisSessionStoreOptions,
} from '../../packages/server/src/session/redis-session-store.ts';
import type {
  SessionStore,
  StoredSession,
} from '../../packages/server/src/session/session-store.ts';
import {
  createStoredSession,
  UNAVAILABLE,
} from '../../packages/server/src/session/session-store-contract.ts';
import { createSettings } from './redis-deployment.ts';
import { REDIS } from './redis-process.ts';
import { type RedisOptions, type RedisServer, startRedis } from './redis-server.ts';
import { startSentinelGroup } from './sentinel.ts';
import { type Choice, startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

const HOST = '127.0.0.1';
/** Longest a call may take: its deadline, and what a busy machine adds. */
const ANSWERED_MS = 3_000;
const RECOVERED_MS = 15_000;
/** The connection that reads the log of ended sessions. */
const READS_LOG: Choice = ({ commands }) => commands.some((command) => command.startsWith('XREAD'));
const OWNER = { kind: 'principal', key: new Uint8Array(16).fill(1) } as const;
/** What was given up on may be carried out all the same, so this one has no sessions. */
const NOBODY = { kind: 'principal', key: new Uint8Array(16).fill(9) } as const;
const EVERY_ONE = { sessionsUpTo: Number.MAX_SAFE_INTEGER, signInsUpTo: 0 };

interface Opened {
  readonly store: SessionStore;
  readonly log: readonly { readonly event: string; readonly fields: LogFields | undefined }[];
}

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

/** Opens the store on a port, as one process does. */
async function open(
  port: number,
  options: Partial<RedisSessionStoreOptions> = {},
): Promise<Opened> {
  const log: { event: string; fields: LogFields | undefined }[] = [];
  const store = await openRedisSessionStore(
    createSettings(
      {
        topology: { mode: 'standalone', address: { host: HOST, port } },
        allowWithoutAppendOnlyFile: false,
        log: (_, event, fields) => log.push({ event, fields }),
        ...options,
      },
      Date.now,
    ),
  );
  onTestFinished(() => store.close());
  return { store, log };
}

function createSession(id: number): StoredSession {
  const now = Date.now();
  return createStoredSession(id, {
    lastUsedAt: now,
    absoluteEnd: now + 3_600_000,
    signInAt: now - 1_000,
  });
}

/** Asks until it is so. */
async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + RECOVERED_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await pause(20);
  }
}

const works = (store: SessionStore, id: number) => async (): Promise<boolean> => {
  try {
    return (await store.read(id)) !== undefined;
  } catch (error) {
    expect(error).toEqual(UNAVAILABLE);
    return false;
  }
};

const isFresh = (store: SessionStore) => (): boolean => !store.revocations().all;

/** Every call says within its time that it cannot tell. */
async function expectUnavailable(store: SessionStore): Promise<void> {
  const begun = performance.now();
  const calls = [
    store.read(1),
    store.create(createSession(99), undefined),
    store.touch(1, Date.now() + 60_000),
    store.replace({ ...createSession(1), generation: 2 }),
    store.noteRenewalSent(1, 1),
    store.lease(1, 'a', 1_000),
    store.revoke(1),
    store.revokeAll(NOBODY, EVERY_ONE, 'session_revoked'),
    store.endReason(1),
    store.listByPrincipal(OWNER.key, 10),
    store.list(undefined, 10),
    store.claimOnce(Buffer.from('x'), Date.now() + 1_000),
    store.sweep(10),
  ];
  for (const outcome of await Promise.allSettled(calls)) {
    expect(outcome).toMatchObject({ status: 'rejected' });
    if (outcome.status === 'rejected') expect(outcome.reason).toEqual(UNAVAILABLE);
  }
  expect(performance.now() - begun).toBeLessThan(3 * 1_000 + ANSWERED_MS);
}

describe.skipIf(REDIS.isLeftOut)('redis-server: a server that is away', () => {
  it.each([
    ['ended and started again', (server: RedisServer) => server.shutDown()],
    ['killed and started again', (server: RedisServer) => server.kill()],
  ])('%s: nobody is admitted meanwhile, and everybody known again afterwards', async (_, end) => {
    const server = await start();
    const { store, log } = await open(server.port);
    await store.create(createSession(1), undefined);
    await store.create(createSession(2), undefined);
    await store.revoke(2, 'session_revoked');
    await until('the log is read', isFresh(store));
    await end(server);
    await until('what is remembered counts no more', () => store.revocations().all);
    await expectUnavailable(store);
    await server.restart();
    await until('it is there again', works(store, 1));
    await until('the log is read', isFresh(store));
    expect(await store.read(2)).toBeUndefined();
    expect(await store.endReason(2)).toBe('session_revoked');
    await store.revoke(1);
    expect(await store.read(1)).toBeUndefined();
    expect(log.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['session_store_unusable', 'session_store_connected']),
    );
  });

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
    await until('it is there', async () =>
      store.create(createSession(1), undefined).catch(() => false),
    );
    await until('the log is read', isFresh(store));
  });

  it('has every acknowledged end and every acknowledged session after a kill in the middle of them', async () => {
    // Written before it is answered: what an everyday setting may still have in its hands is not the point.
    const server = await start({ lines: ['appendfsync always'] });
    const { store } = await open(server.port);
    for (let id = 1; id <= 400; id += 1) await store.create(createSession(id), undefined);
    const ended: number[] = [];
    const created: number[] = [];
    const work = Array.from({ length: 400 }, async (_, index) => {
      const id = index + 1;
      await store.revoke(id).then(
        () => ended.push(id),
        (error: unknown) => expect(error).toEqual(UNAVAILABLE),
      );
      await store.create(createSession(1_000 + id), undefined).then(
        () => created.push(1_000 + id),
        (error: unknown) => expect(error).toEqual(UNAVAILABLE),
      );
    });
    await until('some are ended', () => ended.length > 20 && created.length > 20);
    await server.kill();
    await Promise.all(work);
    await server.restart();
    await until('it is there again', async () =>
      store.read(created[0] ?? 0).then(Boolean, () => false),
    );
    for (const id of ended) expect(await store.read(id)).toBeUndefined();
    for (const id of created) expect((await store.read(id))?.id).toBe(id);
  });

  it('that stands still is given up on in time, and in use again once it moves', async () => {
    const server = await start();
    const { store } = await open(server.port);
    await store.create(createSession(1), undefined);
    await until('the log is read', isFresh(store));
    server.pause();
    await expectUnavailable(store);
    expect(store.revocations().all).toBe(true);
    server.resume();
    await until('it answers again', async () =>
      store.read(2).then(
        () => true,
        () => false,
      ),
    );
    await until('the log is read', isFresh(store));
    // The end that was given up on was carried out when the server moved again, or it was not.
    await store.revoke(1);
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
    await until('it answers again', works(store, 20));
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
    await until('it is left', async () =>
      store.read(1).then(
        () => false,
        () => true,
      ),
    );
    await expectUnavailable(store);
    await server.acceptWrites();
    await until('it is in use again', async () =>
      store.revoke(1).then(
        () => true,
        () => false,
      ),
    );
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
    expect(await store.noteRenewalSent(1, 1)).toBe(true);
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
    await until('it is let in', async () =>
      store.create(createSession(1), undefined).catch(() => false),
    );
  });
});

describe.skipIf(REDIS.isLeftOut)('redis-server: a server that could lose sessions', () => {
  const UNSUITABLE: unknown = expect.objectContaining({ code: 'SP_STORE_UNSUITABLE' });

  it('because it evicts is refused at the start, with what to set', async () => {
    const server = await start({ maxMemoryPolicy: 'allkeys-lru' });
    await expect(open(server.port)).rejects.toEqual(UNSUITABLE);
    await expect(open(server.port)).rejects.toThrow(
      'set its maxmemory-policy to noeviction (it is allkeys-lru)',
    );
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
    await until('it is left', async () =>
      store.read(1).then(
        () => false,
        () => true,
      ),
    );
    await expectUnavailable(store);
    expect(JSON.stringify(log)).toContain('(it is volatile-lru)');
    await server.send('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await until('it is in use again', works(store, 1));
  });
});

describe.skipIf(REDIS.isLeftOut)('redis-server: the log of ended sessions', () => {
  it('cut alone goes on where it was: nothing is missed, and sessions are read meanwhile', async () => {
    const server = await start();
    const proxy = await startProxy(server);
    const [{ store }, { store: other }] = await Promise.all([open(proxy.port), open(server.port)]);
    await store.create(createSession(1), undefined);
    await until('the log is read', isFresh(store));
    for (let id = 1; id <= 5; id += 1) {
      proxy.cut(READS_LOG);
      await other.revoke(id);
      await until('it is told', () => {
        const { sessions, all } = store.revocations();
        return sessions.includes(id) || all;
      });
      expect(await store.read(id)).toBeUndefined();
      await until('the log is read', isFresh(store));
    }
  });

  it('not read for 700 ms makes everything remembered worthless, at every look, while sessions are read', async () => {
    const server = await start();
    const proxy = await startProxy(server);
    const [{ store }, { store: other }] = await Promise.all([open(proxy.port), open(server.port)]);
    await store.create(createSession(1), undefined);
    await store.create(createSession(2), undefined);
    await until('the log is read', isFresh(store));
    proxy.hold(READS_LOG);
    await other.revoke(1);
    await until('nothing remembered counts', () => store.revocations().all);
    for (let look = 1; look <= 5; look += 1) {
      expect(store.revocations().all).toBe(true);
      expect(await store.read(1)).toBeUndefined();
      expect((await store.read(2))?.id).toBe(2);
    }
    proxy.release();
    await until('the log is read', isFresh(store));
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
      await until('the log is read', isFresh(store));
      await server.send(...lose);
      await until('everything is forgotten', () => store.revocations().all);
      await until('only once', isFresh(store));
    }
  });

  it('is told of everything when more end than it holds', async () => {
    const server = await start();
    const [{ store }, { store: other }] = await Promise.all([open(server.port), open(server.port)]);
    const ids = Array.from({ length: 2_500 }, (_, index) => index + 1);
    for (let from = 0; from < ids.length; from += 250)
      await Promise.all(
        ids.slice(from, from + 250).map((id) => store.create(createSession(id), undefined)),
      );
    await until('the log is read', isFresh(other));
    const ended = await store.revokeAll(OWNER, EVERY_ONE, 'session_revoked');
    expect(ended.toSorted((a, b) => a - b)).toEqual(ids);
    const told = new Set<number>();
    await until('all are told', () => {
      for (const id of other.revocations().sessions) told.add(id);
      return told.size === ids.length;
    });
  });
});

describe.skipIf(REDIS.isLeftOut)('redis-server: a failover', () => {
  it('undoes no acknowledged end and loses no acknowledged session; nobody restarts anything', async () => {
    const group = await startSentinelGroup({ appendOnly: true });
    onTestFinished(() => group.stop());
    const topology = {
      mode: 'sentinel',
      sentinels: group.sentinels,
      master: group.name,
      password: () => '',
    } as const;
    const [{ store }, { store: other }] = await Promise.all([
      open(0, { topology, replicas: 2 }),
      open(0, { topology, replicas: 2 }),
    ]);
    for (let id = 1; id <= 300; id += 1) await store.create(createSession(id), undefined);
    await until('the log is read', isFresh(other));
    const ended: number[] = [];
    const created: number[] = [];
    let isOver = false;
    const ending = (async () => {
      for (let id = 1; id <= 300 && !isOver; id += 1) {
        await store.revoke(id).then(
          () => ended.push(id),
          (error: unknown) => expect(error).toEqual(UNAVAILABLE),
        );
        await other.create(createSession(1_000 + id), undefined).then(
          () => created.push(1_000 + id),
          (error: unknown) => expect(error).toEqual(UNAVAILABLE),
        );
      }
    })();
    await until('some are ended', () => ended.length > 20);
    await group.failover();
    isOver = true;
    await ending;
    await until('the new master is in use', works(store, created[0] ?? 0));
    await until('the new master is in use', works(other, created[0] ?? 0));
    for (const each of [store, other]) {
      for (const id of ended) expect(await each.read(id)).toBeUndefined();
      for (const id of created) expect((await each.read(id))?.id).toBe(id);
    }
    await until('the log is read', isFresh(store));
    await until('the log is read', isFresh(other));
  });

  it('acknowledges no end that too few replicas have, and says so', async () => {
    const group = await startSentinelGroup({ appendOnly: true });
    onTestFinished(() => group.stop());
    const topology = {
      mode: 'sentinel',
      sentinels: group.sentinels,
      master: group.name,
      password: () => '',
    } as const;
    const { store } = await open(0, { topology, replicas: 2 });
    await store.create(createSession(1), undefined);
    await store.create(createSession(2), undefined);
    await store.revoke(1);
    await group.servers.at(-1)?.kill();
    await expect(store.revoke(2)).rejects.toEqual(UNAVAILABLE);
    await expect(store.revokeAll(OWNER, EVERY_ONE, 'session_revoked')).rejects.toThrow('replicas');
    // A sign-in does not wait for a replica that is gone.
    expect(await store.create(createSession(3), undefined)).toBe(true);
    await group.servers.at(-1)?.restart();
    await until('the replica follows again', async () =>
      store.revoke(3).then(
        () => true,
        () => false,
      ),
    );
    expect(await store.read(3)).toBeUndefined();
  });
});

import { UNAVAILABLE } from '@sallyport/testing/store-contracts/session-store-contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createSession,
  EVERY_ONE,
  isDone,
  knows,
  OWNER,
  open,
  until,
  untilFresh,
} from './opened-store.ts';
import { testStore } from './redis-deployment.ts';
import { REDIS } from './redis-process.ts';
import type { RedisServer } from './redis-server.ts';
import { type SentinelGroup, startSentinelGroup } from './sentinel.ts';

const PASSWORD = 'of the servers';

/** In this order: at last the master is killed. */
describe.skipIf(REDIS.isLeftOut)('redis-server: a group that sentinels watch', () => {
  let group: SentinelGroup;
  let elected: RedisServer | undefined;
  beforeAll(async () => {
    group = await startSentinelGroup({ password: PASSWORD, appendOnly: true, isTalkative: true });
  });
  afterAll(() => group.stop());

  const settings = () =>
    ({
      topology: {
        mode: 'sentinel',
        sentinels: group.sentinels,
        master: group.name,
        password: () => '',
      },
      access: { username: '', password: () => PASSWORD, tls: undefined, database: 0 },
    }) as const;

  it('has the master that was started as one, and copies what it is given', async () => {
    const master = await group.currentMaster();
    expect(master).toBe(group.servers[0]);
    expect(group.sentinels).toHaveLength(3);
    await master.send('SET', 'a', '1');
    await expect.poll(() => group.servers[2]?.send('GET', 'a'), { timeout: 10_000 }).toBe('1');
  });

  testStore(
    'redis with sentinels',
    () => ({ ...settings(), replicas: 1 }),
    () => group.currentMaster(),
  );

  it('acknowledges no end that too few replicas have, and says so', async () => {
    const { store } = await open(0, { ...settings(), keyPrefix: 'replicas', replicas: 2 });
    await store.create(createSession(1), undefined);
    await store.create(createSession(2), undefined);
    await store.revoke(1);
    await group.servers.at(-1)?.kill();
    await expect(store.revoke(2)).rejects.toEqual(UNAVAILABLE);
    await expect(store.revokeAll(OWNER, EVERY_ONE, 'session_revoked')).rejects.toThrow('replicas');
    // A sign-in does not wait for a replica that is gone.
    expect(await store.create(createSession(3), undefined)).toBe(true);
    await group.servers.at(-1)?.restart();
    await until('the replica follows again', () => isDone(store.revoke(3)));
    expect(await store.read(3)).toBeUndefined();
  });

  it('undoes no acknowledged end and loses no acknowledged session, without a restart', async () => {
    const [{ store }, { store: other }] = await Promise.all([
      open(0, { ...settings(), keyPrefix: 'failover', replicas: 2 }),
      open(0, { ...settings(), keyPrefix: 'failover', replicas: 2 }),
    ]);
    for (let id = 1; id <= 300; id += 1) await store.create(createSession(id), undefined);
    const old = await group.currentMaster();
    await old.send('SET', 'kept', 'yes');
    await old.send('WAIT', '2', '10000');
    await untilFresh(other);
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
    elected = await group.failover();
    isOver = true;
    await ending;
    await until('the new master is in use', () => knows(store, created[0] ?? 0));
    await until('the new master is in use', () => knows(other, created[0] ?? 0));
    for (const each of [store, other]) {
      for (const id of ended) expect(await each.read(id)).toBeUndefined();
      for (const id of created) expect((await each.read(id))?.id).toBe(id);
    }
    await untilFresh(store);
    await untilFresh(other);
  });

  it('elects another master when its own is killed, which has the data and takes writes', async () => {
    expect(elected).not.toBe(group.servers[0]);
    expect(await group.currentMaster()).toBe(elected);
    expect(await elected?.send('GET', 'kept')).toBe('yes');
    expect(await elected?.send('SET', 'b', '2')).toBe('OK');
  });

  it('takes the old master back as a replica', async () => {
    const old = group.servers[0];
    expect(await group.currentMaster()).not.toBe(old);
    await old?.restart();
    // Whichever that is by now.
    const isFollower = async () => {
      const { port } = await group.currentMaster();
      return String(await old?.send('ROLE')).startsWith(`slave,127.0.0.1,${port},`);
    };
    await expect.poll(isFollower, { timeout: 60_000, interval: 200 }).toBe(true);
  });
});

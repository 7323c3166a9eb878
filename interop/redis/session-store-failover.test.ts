import { UNAVAILABLE } from '@sallyport/testing/store-contracts/session-store-contract';
import { describe, expect, it, onTestFinished } from 'vitest';
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
import { REDIS } from './redis-process.ts';
import { startSentinelGroup } from './sentinel.ts';

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
    await group.failover();
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
    await until('the replica follows again', () => isDone(store.revoke(3)));
    expect(await store.read(3)).toBeUndefined();
  });
});

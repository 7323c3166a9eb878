import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import {
  createStoredSession,
  UNAVAILABLE,
} from '@sallyport/testing/store-contracts/session-store-contract';
import { Clock } from '@sallyport/testing/time/clock';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SessionStore } from '../session-store.ts';
import { createLocalSessionStore } from './local-session-store.ts';
import { createReadBatcher } from './local-store-read-batcher.ts';

/** A store with sessions 1 to `count`. */
async function openStore(count: number): Promise<{ store: SessionStore; path: string }> {
  const path = join(createTemporaryFolder(), 'state', 'sessions.sqlite');
  const store = createLocalSessionStore({ path, now: new Clock().now });
  onTestFinished(() => store.close());
  for (let id = 1; id <= count; id += 1) await store.create(createStoredSession(id), undefined);
  return { store, path };
}

describe('sessions that are asked for in one turn', () => {
  it('are read in one transaction, each for its caller', async () => {
    const { store } = await openStore(40);
    const run = vi.spyOn(StatementSync.prototype, 'run');
    onTestFinished(() => run.mockRestore());
    const ids = Array.from({ length: 41 }, (_, index) => 41 - index);
    const read = await Promise.all(ids.map((id) => store.readMetadata(id)));
    expect(read.map((session) => session?.id)).toEqual([undefined, ...ids.slice(1)]);
    // Its beginning and its end.
    expect(run).toHaveBeenCalledTimes(2);
  });

  it('see what was written before, here and by another process, and leave no transaction behind', async () => {
    const { store, path } = await openStore(2);
    const other = createLocalSessionStore({ path, now: new Clock().now });
    onTestFinished(() => other.close());
    for (const generation of [2, 3, 4]) {
      const writer = generation === 3 ? other : store;
      expect(await writer.replace({ ...createStoredSession(1), generation })).toBe(true);
      const read = await Promise.all([store.readMetadata(1), store.readMetadata(2)]);
      expect(read.map((session) => session?.generation)).toEqual([generation, 1]);
    }
    await store.revoke(1);
    const last = await Promise.all([store.readMetadata(1), store.readMetadata(2)]);
    expect(last.map((session) => session?.id)).toEqual([undefined, 2]);
  });

  it('are all rejected where the file fails, and read again once it is back', async () => {
    const { store } = await openStore(2);
    const get = vi.spyOn(StatementSync.prototype, 'get').mockImplementation(() => {
      throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
    });
    onTestFinished(() => get.mockRestore());
    const failed = await Promise.allSettled([1, 2].map((id) => store.readMetadata(id)));
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    get.mockRestore();
    expect((await store.readMetadata(1))?.id).toBe(1);
  });

  it('are rejected when the store is closed before it is read', async () => {
    const { store } = await openStore(2);
    const read = [store.readMetadata(1), store.readMetadata(2)];
    store.close();
    for (const one of read) await expect(one).rejects.toEqual(UNAVAILABLE);
  });

  it('do not keep each other from being answered: what was read before a failure is given', async () => {
    const failure = new Error('the second');
    const read = createReadBatcher<string>((ids, found) => {
      for (const [index, id] of ids.entries()) {
        if (id === 2) throw failure;
        found(index, `session ${id}`);
      }
    });
    const all = await Promise.allSettled([read(1), read(2), read(3)]);
    expect(all).toEqual([
      { status: 'fulfilled', value: 'session 1' },
      { status: 'rejected', reason: failure },
      { status: 'rejected', reason: failure },
    ]);
    expect(await read(4)).toBe('session 4');
  });

  it('while a writer holds the file are read nevertheless', async () => {
    const { store, path } = await openStore(2);
    const db = new DatabaseSync(path);
    onTestFinished(() => db.close());
    db.exec('BEGIN IMMEDIATE');
    const read = await Promise.all([1, 2].map((id) => store.readMetadata(id)));
    db.exec('ROLLBACK');
    expect(read.map((session) => session?.id)).toEqual([1, 2]);
  });
});

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import {
  createStoredSession,
  UNAVAILABLE,
} from '@sallyport/testing/store-contracts/session-store-contract';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SessionStore } from '../session-store.ts';
import { createLocalSessionStore } from './local-session-store.ts';

function createPath(): string {
  return join(createTemporaryFolder(), 'state', 'sessions.sqlite');
}

function openStore(path: string): SessionStore {
  const store = createLocalSessionStore({ path, now: new Clock().now });
  onTestFinished(() => store.close());
  return store;
}

/** How often stores have tried to write since. */
function countAttempts(): () => number {
  const exec = vi.spyOn(DatabaseSync.prototype, 'exec');
  onTestFinished(() => exec.mockRestore());
  return () => exec.mock.calls.filter(([sql]) => sql === 'BEGIN IMMEDIATE').length;
}

describe('noted uses', () => {
  it('of many sessions are few writes, and each is there once it is acknowledged', async () => {
    const path = createPath();
    const store = openStore(path);
    const ids = Array.from({ length: 150 }, (_, index) => index + 1);
    for (const id of ids) await store.create(createStoredSession(id), undefined);
    const attempts = countAttempts();
    await Promise.all(ids.map((id) => store.touch(id, NOON + 60_000 + id)));
    // 64 at a time.
    expect(attempts()).toBe(3);
    const other = openStore(path);
    for (const id of ids) expect((await other.read(id))?.lastUsedAt).toBe(NOON + 60_000 + id);
  });

  it('of one session are one, the latest', async () => {
    const store = openStore(createPath());
    await store.create(createStoredSession(1), undefined);
    await Promise.all([1, 3, 2].map((more) => store.touch(1, NOON + more)));
    expect((await store.read(1))?.lastUsedAt).toBe(NOON + 3);
  });

  it('count at once where they were noted, and elsewhere once they are written', async () => {
    const path = createPath();
    const [store, other] = [openStore(path), openStore(path)];
    await store.create(createStoredSession(1), undefined);
    const noted = store.touch(1, NOON + 60_000);
    expect((await store.read(1))?.lastUsedAt).toBe(NOON + 60_000);
    expect((await store.readMetadata(1))?.lastUsedAt).toBe(NOON + 60_000);
    expect((await other.read(1))?.lastUsedAt).toBe(NOON);
    await noted;
    expect((await other.read(1))?.lastUsedAt).toBe(NOON + 60_000);
  });

  it('that could not be written are written with the next', async () => {
    const path = createPath();
    const store = openStore(path);
    for (const id of [1, 2]) await store.create(createStoredSession(id), undefined);
    const db = new DatabaseSync(path);
    db.exec('BEGIN IMMEDIATE');
    await expect(store.touch(1, NOON + 60_000)).rejects.toEqual(UNAVAILABLE);
    db.exec('ROLLBACK');
    db.close();
    const other = openStore(path);
    expect((await other.read(1))?.lastUsedAt).toBe(NOON);
    await store.touch(2, NOON + 70_000);
    expect((await other.read(1))?.lastUsedAt).toBe(NOON + 60_000);
    expect((await other.read(2))?.lastUsedAt).toBe(NOON + 70_000);
  });

  it('that are not written yet when the store is closed are written then', async () => {
    const path = createPath();
    const store = openStore(path);
    await store.create(createStoredSession(1), undefined);
    const noted = store.touch(1, NOON + 60_000);
    store.close();
    await noted;
    expect((await openStore(path).read(1))?.lastUsedAt).toBe(NOON + 60_000);
  });
});

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { createStoredSession } from '@sallyport/testing/store-contracts/session-store-contract';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SessionStore } from '../session-store.ts';
import { createLocalSessionStore } from './local-session-store.ts';

const ADA = new Uint8Array(16).fill(1);
const EVERYTHING = { sessionsUpTo: Number.MAX_SAFE_INTEGER, signInsUpTo: NOON };

/** Follows what a connection says to SQLite, and how each commit is written. */
function watchCommits(): () => readonly string[] {
  const commits: string[] = [];
  let synchronous = 'NORMAL';
  const exec = vi.spyOn(DatabaseSync.prototype, 'exec');
  onTestFinished(() => exec.mockRestore());
  return () => {
    for (const [sql] of exec.mock.calls) {
      synchronous = /^PRAGMA synchronous = (\w+)$/.exec(sql)?.[1] ?? synchronous;
      if (sql === 'COMMIT') commits.push(synchronous);
    }
    exec.mockClear();
    return commits.splice(0);
  };
}

async function openWithSession(): Promise<SessionStore> {
  const clock = new Clock();
  const path = join(createTemporaryFolder(), 'sessions.sqlite');
  const store = createLocalSessionStore({ path, now: clock.now, monotonicNow: clock.now });
  onTestFinished(() => store.close());
  await store.create(createStoredSession(1), undefined);
  return store;
}

describe('the local store', () => {
  it.each<[string, (store: SessionStore) => Promise<unknown>]>([
    ['a new session', (store) => store.create(createStoredSession(2), undefined)],
    ['a renewed session', (store) => store.replace(createStoredSession(1, { generation: 2 }))],
    ['that a refresh token leaves', (store) => store.noteRenewalSent(1, 1, 'holder', 1_000)],
    ['the end of a session', (store) => store.revoke(1)],
    ['the end of one generation', (store) => store.revokeGeneration(1, 1, 'renewal_refused')],
    [
      "the end of a principal's sessions",
      (store) => store.revokeAll({ kind: 'principal', key: ADA }, EVERYTHING, 'session_revoked'),
    ],
    ['what is used once', (store) => store.claimOnce(new Uint8Array(32), NOON + 1_000)],
  ])('has %s on the disk before it says so', async (_what, write) => {
    const store = await openWithSession();
    const commits = watchCommits();
    await write(store);
    expect(new Set(commits())).toEqual(new Set(['FULL']));
  });

  it.each<[string, (store: SessionStore) => Promise<unknown>]>([
    ['a use', (store) => store.touch(1, NOON + 60_000)],
    ['a lease', (store) => store.lease(1, 'holder', 1_000)],
  ])('waits for no disk where a power cut may take %s back', async (_what, write) => {
    const store = await openWithSession();
    const commits = watchCommits();
    await write(store);
    expect(new Set(commits())).toEqual(new Set(['NORMAL']));
  });
});

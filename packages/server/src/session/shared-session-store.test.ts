import { join } from 'node:path';
import { createTemporaryFolder } from '@sallyport/testing/files/temporary-folder';
import { createStoredSession } from '@sallyport/testing/store-contracts/session-store-contract';
import { Clock, NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLocalSessionStore } from './local/local-session-store.ts';
import { shareSessionStore } from './shared-session-store.ts';

function begin() {
  const clock = new Clock();
  const path = join(createTemporaryFolder(), 'sessions.sqlite');
  const open = () => createLocalSessionStore({ path, now: clock.now, monotonicNow: clock.now });
  const shared = shareSessionStore(open());
  const elsewhere = open();
  onTestFinished(() => {
    shared.close();
    elsewhere.close();
  });
  const [one, other] = [shared.open(), shared.open()];
  for (const each of [one, other]) each.revocations();
  return { clock, shared, elsewhere, one, other };
}

const NOTHING = { sessions: [], all: false };

describe('A store that is shared', () => {
  it('reports to each user what ended in this process, once', async () => {
    const { one, other } = begin();
    await one.create(createStoredSession(1), undefined);
    await one.revoke(1);
    expect(other.revocations().sessions).toEqual([1]);
    expect(other.revocations()).toEqual(NOTHING);
    expect(one.revocations().sessions).toEqual([1]);
    expect(one.revocations()).toEqual(NOTHING);
  });

  it('and what ended in another process, in whatever order they ask', async () => {
    const { clock, elsewhere, one, other } = begin();
    for (const id of [1, 2]) await elsewhere.create(createStoredSession(id), undefined);
    await elsewhere.revoke(1);
    clock.advance(250);
    expect(one.revocations().sessions).toEqual([1]);
    await elsewhere.revoke(2);
    clock.advance(250);
    expect(one.revocations().sessions).toEqual([2]);
    expect(other.revocations().sessions).toEqual([1, 2]);
  });

  it('reports to a new user nothing of what ended before: it remembers nothing', async () => {
    const { shared, one } = begin();
    await one.create(createStoredSession(1), undefined);
    await one.revoke(1);
    one.revocations();
    expect(shared.open().revocations()).toEqual(NOTHING);
  });

  it('reports to a user that has not asked for very long that all may have ended', async () => {
    const { one, other } = begin();
    const key = new Uint8Array(16).fill(1);
    for (let id = 1; id <= 3; id += 1) await one.create(createStoredSession(id), undefined);
    const reach = { sessionsUpTo: NOON, signInsUpTo: NOON };
    await one.revokeAll({ kind: 'principal', key }, reach, 'session_revoked');
    expect(new Set(one.revocations().sessions)).toEqual(new Set([1, 2, 3]));
    const many = Array.from({ length: 10_001 }, (_, index) => index);
    const crowded = shareSessionStore({
      ...one,
      revocations: () => ({ sessions: many, all: false }),
    });
    const [first, second] = [crowded.open(), crowded.open()];
    first.revocations();
    expect(second.revocations()).toEqual({ sessions: [], all: true });
    expect(other.revocations().all).toBe(false);
  });

  it('is unavailable to a user that closed its own, and never says that nothing ended', async () => {
    const { one, other } = begin();
    await one.create(createStoredSession(1), undefined);
    one.close();
    await other.revoke(1);
    expect(() => one.revocations()).toThrow(
      expect.objectContaining({ code: 'SP_STORE_UNAVAILABLE' }),
    );
    expect(other.revocations().sessions).toEqual([1]);
  });

  it('stays open for the others when one user closes its own', async () => {
    const { one, other, shared } = begin();
    await one.create(createStoredSession(1), undefined);
    one.close();
    expect((await other.read(1))?.id).toBe(1);
    shared.close();
    await expect(other.read(1)).rejects.toMatchObject({ code: 'SP_STORE_UNAVAILABLE' });
  });
});

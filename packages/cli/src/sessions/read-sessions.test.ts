import { createSession, ISSUER, NOON, SessionsInMemory } from '@sallyport/testing/cli/sessions';
import { describe, expect, it } from 'vitest';
import { assertRingOpens } from './open-sessions.ts';
import { type ReadOptions, readSessions } from './read-sessions.ts';

const ADA = { issuer: ISSUER, subject: 'ada-subject' };
const RING = '/state/key-ring.json';

const read = (memory: SessionsInMemory, changes: Partial<ReadOptions> = {}) =>
  readSessions(memory.sessions, {
    principal: undefined,
    limit: 100,
    keyRingFile: RING,
    onProgress: () => {},
    signal: new AbortController().signal,
    ...changes,
  });

describe('reading sessions for a list', () => {
  it('goes through all parts, and gives the one used last first', async () => {
    const memory = new SessionsInMemory(8);
    memory.standing.set(4, createSession(4, { lastUsedAt: NOON }));
    const counts: number[] = [];
    const { rows, total, sealed } = await read(memory, {
      onProgress: (count) => counts.push(count),
    });
    expect(rows.map(({ session }) => session)).toEqual([4, 1, 2, 3, 5, 6, 7, 8]);
    expect([total, sealed]).toEqual([8, 0]);
    expect(counts).toEqual([3, 6, 8]);
  });

  it('says how many there are when there are more than are listed', async () => {
    const { rows, total } = await read(new SessionsInMemory(8), { limit: 2 });
    expect([rows.length, total]).toEqual([2, 8]);
  });

  it('lists those of one principal, and says when there are more', async () => {
    const memory = new SessionsInMemory(3);
    const grace = { issuer: ISSUER, subject: 'grace-subject', kind: 'user' as const };
    memory.standing.set(2, createSession(2, { principal: grace }));
    const all = await read(memory, { principal: ADA });
    expect(all.rows.map(({ session }) => session)).toEqual([1, 3]);
    expect(all.total).toBe(2);
    memory.standing.set(3, createSession(3, { lastUsedAt: NOON }));
    const some = await read(memory, { principal: ADA, limit: 1 });
    expect([some.rows.map(({ session }) => session), some.total]).toEqual([[3], 2]);
  });

  it('says that one principal has more than 1,000, and does not count them', async () => {
    const some = await read(new SessionsInMemory(1_001), { principal: ADA, limit: 1 });
    expect([some.rows.length, some.total]).toEqual([1, undefined]);
    const counted = await read(new SessionsInMemory(1_000), { principal: ADA, limit: 1 });
    expect(counted.total).toBe(1_000);
  });

  it('gives neither claims nor the sid of the identity provider', async () => {
    const listed = await read(new SessionsInMemory(1));
    expect(listed.rows).toHaveLength(1);
    expect(JSON.stringify(listed)).not.toContain('canary');
  });

  it('counts those that no key opens beside those that are opened', async () => {
    const memory = new SessionsInMemory(1);
    memory.sealed = [7, 8];
    expect((await read(memory)).sealed).toBe(2);
  });

  it('refuses a key ring that opens none, for all principals and for one', async () => {
    const memory = new SessionsInMemory(0);
    memory.sealed = [7];
    for (const principal of [undefined, ADA])
      await expect(read(memory, { principal })).rejects.toMatchObject({
        code: 'SP_KEY_RING_UNUSABLE',
        message: expect.stringContaining(RING) as string,
      });
    await expect(assertRingOpens(memory.sessions, RING)).rejects.toThrow('opens none');
  });

  it('takes any key ring where no user is signed in, and for a subject without a session', async () => {
    expect(await read(new SessionsInMemory(0))).toEqual({ rows: [], total: 0, sealed: 0 });
    const other = { issuer: ISSUER, subject: 'other' };
    expect((await read(new SessionsInMemory(1), { principal: other })).rows).toEqual([]);
    await assertRingOpens(new SessionsInMemory(0).sessions, RING);
    await assertRingOpens(new SessionsInMemory(1).sessions, RING);
  });

  it('ends between two parts when it is interrupted', async () => {
    const controller = new AbortController();
    const reading = read(new SessionsInMemory(8), {
      onProgress: () => controller.abort(new Error('interrupted')),
      signal: controller.signal,
    });
    await expect(reading).rejects.toThrow('interrupted');
  });
});

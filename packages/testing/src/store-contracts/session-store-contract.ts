/**
 * The contract suite of {@link SessionStore}: every implementation passes it. Imported by tests only.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SessionStore, StoredSession } from '../../../server/src/session/session-store.ts';
import { Clock, NOON } from '../time/clock.ts';

/** One deployment's sessions, as several processes open them. */
export interface StoreUnderTest {
  /** Opens the store as a further process would. The suite closes what it opens. */
  open(): SessionStore;
  /** Lets time pass for a store that keeps time itself; absent where the test's clock is all there is. */
  elapse?(ms: number): Promise<void>;
}

/** What a store rejects with when it is unavailable. */
export const UNAVAILABLE: unknown = expect.objectContaining({ code: 'SP_STORE_UNAVAILABLE' });

/** Builds a stored session; its parts are random bytes, since a store cannot open them. */
export function createStoredSession(id: number, times: Partial<StoredSession> = {}): StoredSession {
  return {
    id,
    generation: 1,
    metadata: new Uint8Array(randomBytes(300)),
    tokens: new Uint8Array(randomBytes(900)),
    lastUsedAt: NOON,
    absoluteEnd: NOON + 604_800_000,
    idleTimeoutMs: 43_200_000,
    principalKey: new Uint8Array(16).fill(1),
    sidKey: undefined,
    signInAt: NOON - 30_000,
    renewalSent: false,
    ...times,
  };
}

/** A test's work on two processes of a deployment. */
export type StoresWork = (
  one: SessionStore,
  other: SessionStore,
  clock: Clock,
  /** Moves the clock on, and the store's own time where it keeps it. */
  elapse: (ms: number) => Promise<void>,
) => Promise<void>;

/** The generation after a session's, with other parts. */
export function renew(session: StoredSession, changes: Partial<StoredSession> = {}): StoredSession {
  const { id, principalKey, sidKey, signInAt } = session;
  return createStoredSession(id, {
    principalKey,
    sidKey,
    signInAt,
    generation: session.generation + 1,
    ...changes,
  });
}

/** Gives each test a deployment of its own, opened twice, and closes both in the end. */
export function createWithStores(
  create: (clock: Clock) => StoreUnderTest,
): (work: StoresWork) => Promise<void> {
  return async (work) => {
    const clock = new Clock();
    const deployment = create(clock);
    const [one, other] = [deployment.open(), deployment.open()];
    try {
      await work(one, other, clock, async (ms) => {
        clock.advance(ms);
        await deployment.elapse?.(ms);
      });
    } finally {
      one.close();
      other.close();
    }
  };
}

/**
 * Registers the suite.
 *
 * @param name - Shown in the report.
 * @param create - Makes an empty deployment for the running test.
 * @param seenWithinMs - How soon a process learns what another one ended.
 */
export function testSessionStore(
  name: string,
  create: (clock: Clock) => StoreUnderTest,
  seenWithinMs: number,
): void {
  const withStores = createWithStores(create);

  describe(`SessionStore contract, ${name}: sessions`, () => {
    it('gives back what was created, to every process', () =>
      withStores(async (one, other) => {
        const plain = createStoredSession(1);
        const full = createStoredSession(2 ** 48 - 1, {
          generation: 9,
          sidKey: new Uint8Array(16).fill(2),
        });
        expect(await one.create(plain, undefined)).toBe(true);
        expect(await one.create(full, undefined)).toBe(true);
        for (const store of [one, other]) {
          expect(await store.read(1)).toEqual(plain);
          expect(await store.read(2 ** 48 - 1)).toEqual(full);
        }
      }));

    it('gives of what was created the part that a verdict needs, as it stands by then', () =>
      withStores(async (one, other) => {
        const { id, generation, metadata, lastUsedAt } = createStoredSession(1);
        await one.create({ ...createStoredSession(id), metadata }, undefined);
        await one.touch(id, lastUsedAt + 5);
        const expected = { id, generation, metadata, lastUsedAt: lastUsedAt + 5 };
        for (const store of [one, other])
          expect(await store.readMetadata(id)).toMatchObject(expected);
        expect(await one.readMetadata(2)).toBeUndefined();
        await one.revoke(id);
        expect(await other.readMetadata(id)).toBeUndefined();
      }));

    it('knows nothing of an id that was never created', () =>
      withStores(async (one) => {
        await one.create(createStoredSession(1), undefined);
        expect(await one.read(2)).toBeUndefined();
        expect(await one.read(0)).toBeUndefined();
      }));

    it('refuses an id that is taken, changes nothing then and ends nothing', () =>
      withStores(async (one, other) => {
        const first = createStoredSession(1);
        const replaced = createStoredSession(2);
        await one.create(first, undefined);
        await one.create(replaced, undefined);
        expect(await other.create(createStoredSession(1, { generation: 2 }), 2)).toBe(false);
        expect(await one.read(1)).toEqual(first);
        expect(await one.read(2)).toEqual(replaced);
      }));

    it('ends the session a new one replaces, and no other', () =>
      withStores(async (one, other) => {
        await one.create(createStoredSession(1), undefined);
        await one.create(createStoredSession(2), undefined);
        expect(await other.create(createStoredSession(3), 1)).toBe(true);
        expect(await one.read(1)).toBeUndefined();
        expect(await one.read(2)).toBeDefined();
        expect(await one.read(3)).toBeDefined();
        expect(other.revocations().sessions).toContain(1);
      }));

    it('still reads a session past its end: whether it has ended is not the store’s to say', () =>
      withStores(async (one, _, clock) => {
        const session = createStoredSession(1);
        await one.create(session, undefined);
        clock.set(session.absoluteEnd + 1);
        expect(await one.read(1)).toEqual(session);
      }));

    it('notes a use, never an earlier one, and changes nothing else', () =>
      withStores(async (one, other) => {
        const session = createStoredSession(1);
        await one.create(session, undefined);
        await one.touch(1, NOON + 60_000);
        await other.touch(1, NOON + 30_000);
        expect(await other.read(1)).toEqual({ ...session, lastUsedAt: NOON + 60_000 });
      }));

    it('does not bring a session back by noting a use', () =>
      withStores(async (one) => {
        await one.create(createStoredSession(1), undefined);
        await one.revoke(1);
        await one.touch(1, NOON + 60_000);
        expect(await one.read(1)).toBeUndefined();
      }));

    it('survives its process', async () => {
      const clock = new Clock();
      const deployment = create(clock);
      const session = createStoredSession(1);
      const first = deployment.open();
      await first.create(session, undefined);
      await first.create(createStoredSession(2), undefined);
      await first.revoke(2);
      await first.claimOnce(Buffer.from('claimed'), NOON + 60_000);
      first.close();
      const second = deployment.open();
      expect(await second.read(1)).toEqual(session);
      expect(await second.read(2)).toBeUndefined();
      expect(await second.claimOnce(Buffer.from('claimed'), NOON + 60_000)).toBe(false);
      second.close();
    });
  });

  describe(`SessionStore contract, ${name}: revocation`, () => {
    it('ends a session for every process, and no other session', () =>
      withStores(async (one, other) => {
        await one.create(createStoredSession(1), undefined);
        await one.create(createStoredSession(2), undefined);
        await other.revoke(1);
        for (const store of [one, other]) {
          expect(await store.read(1)).toBeUndefined();
          expect(await store.read(2)).toBeDefined();
        }
      }));

    it('takes a session that is gone already for ended', () =>
      withStores(async (one, other) => {
        await one.create(createStoredSession(1), undefined);
        await Promise.all([one.revoke(1), other.revoke(1), one.revoke(99)]);
        await other.revoke(1);
        expect(await one.read(1)).toBeUndefined();
      }));

    it('is reported at once in its own process', () =>
      withStores(async (one) => {
        await one.create(createStoredSession(1), undefined);
        one.revocations();
        await one.revoke(1);
        expect(one.revocations().sessions).toContain(1);
      }));

    it(`is reported to other processes within ${seenWithinMs} ms`, () =>
      withStores(async (one, other, clock) => {
        await one.create(createStoredSession(1), undefined);
        other.revocations();
        await one.revoke(1);
        clock.advance(seenWithinMs);
        expect(other.revocations().sessions).toContain(1);
      }));

    it('is reported also when the row was gone already: a process may still remember the session', () =>
      withStores(async (one, other, clock) => {
        other.revocations();
        await one.revoke(77);
        clock.advance(seenWithinMs);
        expect(other.revocations().sessions).toContain(77);
      }));

    it('is reported of no session that stands, whatever else is written', () =>
      withStores(async (one, other, clock) => {
        await one.create(createStoredSession(1), undefined);
        other.revocations();
        await one.create(createStoredSession(2), undefined);
        await one.touch(1, NOON + 60_000);
        await one.claimOnce(Buffer.from('x'), NOON + 60_000);
        await one.sweep(10);
        clock.advance(seenWithinMs);
        expect(other.revocations()).toEqual({ sessions: [], all: false });
        expect(one.revocations().sessions).toEqual([]);
      }));

    it('goes on being reported when a process’s clock was set back', () =>
      withStores(async (one, other, clock) => {
        other.revocations();
        clock.advance(-3_600_000);
        await one.revoke(1);
        expect(other.revocations().sessions).toContain(1);
      }));
  });

  describe(`SessionStore contract, ${name}: single use`, () => {
    it('grants an identifier to exactly one of 50 concurrent claims over two processes', () =>
      withStores(async (one, other) => {
        const claims = Array.from({ length: 50 }, (_, index) =>
          (index % 2 === 0 ? one : other).claimOnce(Buffer.from('once'), NOON + 60_000),
        );
        expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
      }));

    it('gives the turn to one holder at a time, and to none once it is claimed', () =>
      withStores(async (one, other) => {
        const key = Buffer.from('turn');
        const turns = await Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            (index % 2 === 0 ? one : other).takeTurn(key, `holder-${index}`, 10_000),
          ),
        );
        expect(turns.filter((turn) => turn === 'taken')).toHaveLength(1);
        expect(turns.filter((turn) => turn === 'under_way')).toHaveLength(19);
        expect(await other.claimOnce(key, NOON + 60_000)).toBe(true);
        const first = `holder-${turns.indexOf('taken')}`;
        expect(await one.takeTurn(key, first, 10_000)).toBe('claimed');
        expect(await other.takeTurn(key, 'another', 10_000)).toBe('claimed');
        expect(await one.claimOnce(key, NOON + 60_000)).toBe(false);
      }));

    it('gives the turn to the next once its holder gives it back, and to its holder again', () =>
      withStores(async (one, other) => {
        const key = Buffer.from('turn');
        expect(await one.takeTurn(key, 'first', 10_000)).toBe('taken');
        expect(await one.takeTurn(key, 'first', 10_000)).toBe('taken');
        // What another has is not theirs to give back.
        expect(await other.takeTurn(key, 'second', 0)).toBe('under_way');
        expect(await other.takeTurn(key, 'second', 10_000)).toBe('under_way');
        await one.takeTurn(key, 'first', 0);
        expect(await other.takeTurn(key, 'second', 10_000)).toBe('taken');
        expect(await one.takeTurn(Buffer.from('else'), 'first', 10_000)).toBe('taken');
      }));

    it('gives the turn to the next when its time is over: its holder may have died', () =>
      withStores(async (one, other, _, elapse) => {
        const key = Buffer.from('turn');
        await one.takeTurn(key, 'first', 300);
        expect(await other.takeTurn(key, 'second', 10_000)).toBe('under_way');
        await elapse(400);
        expect(await other.takeTurn(key, 'second', 10_000)).toBe('taken');
        expect(await one.takeTurn(key, 'first', 10_000)).toBe('under_way');
      }));

    it('keeps identifiers apart', () =>
      withStores(async (one, other) => {
        expect(await one.claimOnce(Buffer.from('a'), NOON + 60_000)).toBe(true);
        expect(await other.claimOnce(Buffer.from('b'), NOON + 60_000)).toBe(true);
        expect(await other.claimOnce(Buffer.from('a'), NOON + 60_000)).toBe(false);
      }));

    it('still refuses at the last millisecond before it may be forgotten, swept or not', () =>
      withStores(async (one, _, clock) => {
        await one.claimOnce(Buffer.from('a'), NOON + 60_000);
        clock.set(NOON + 59_999);
        await one.sweep(10);
        expect(await one.claimOnce(Buffer.from('a'), NOON + 60_000)).toBe(false);
      }));
  });

  describe(`SessionStore contract, ${name}: sweep`, () => {
    it('removes exactly what is idle for too long or past its absolute end', () =>
      withStores(async (one, other, clock) => {
        const soon = { absoluteEnd: NOON + 10_000, idleTimeoutMs: 60_000 };
        await one.create(createStoredSession(1, soon), undefined);
        await one.create(
          createStoredSession(2, { ...soon, absoluteEnd: NOON + 10_001 }),
          undefined,
        );
        await one.create(createStoredSession(3, { idleTimeoutMs: 10_000 }), undefined);
        await one.create(createStoredSession(4, { idleTimeoutMs: 10_001 }), undefined);
        await one.create(
          createStoredSession(5, { idleTimeoutMs: 10_000, lastUsedAt: NOON + 1 }),
          undefined,
        );
        clock.set(NOON + 10_000);
        expect(await other.sweep(100)).toBe(2);
        const left = await Promise.all([1, 2, 3, 4, 5].map(async (id) => (await one.read(id))?.id));
        expect(left).toEqual([undefined, 2, undefined, 4, 5]);
        expect(await one.sweep(100)).toBe(0);
      }));

    it('removes no more than the limit at a time', () =>
      withStores(async (one, _, clock) => {
        for (let id = 1; id <= 7; id += 1) await one.create(createStoredSession(id), undefined);
        clock.advance(604_800_000);
        expect([
          await one.sweep(3),
          await one.sweep(3),
          await one.sweep(3),
          await one.sweep(3),
        ]).toEqual([3, 3, 1, 0]);
      }));
  });

  describe(`SessionStore contract, ${name}: closed`, () => {
    it('rejects everything with SP_STORE_UNAVAILABLE, and leaves other processes alone', () =>
      withStores(async (one, other) => {
        await one.create(createStoredSession(1), undefined);
        one.close();
        await expect(one.create(createStoredSession(2), undefined)).rejects.toEqual(UNAVAILABLE);
        await expect(one.read(1)).rejects.toEqual(UNAVAILABLE);
        await expect(one.touch(1, NOON)).rejects.toEqual(UNAVAILABLE);
        await expect(one.revoke(1)).rejects.toEqual(UNAVAILABLE);
        await expect(one.claimOnce(Buffer.from('a'), NOON)).rejects.toEqual(UNAVAILABLE);
        await expect(one.takeTurn(Buffer.from('a'), 'b', 1)).rejects.toEqual(UNAVAILABLE);
        await expect(one.sweep(1)).rejects.toEqual(UNAVAILABLE);
        expect(await other.read(1)).toBeDefined();
      }));
  });
}

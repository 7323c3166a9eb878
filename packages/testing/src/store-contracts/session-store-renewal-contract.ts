/**
 * The second half of the contract suite of {@link SessionStore}: replacement, the end of one generation,
 * reasons; and, in files of their own, leases of renewals, owners and lists. Imported by tests only.
 *
 * @module
 */

import { describe, expect, it } from 'vitest';
import type { EndReason, SessionOwner } from '../../../server/src/session/session-store.ts';
import { type Clock, NOON } from '../time/clock.ts';
import {
  createStoredSession,
  createWithStores,
  renew,
  type StoreUnderTest,
  UNAVAILABLE,
} from './session-store-contract.ts';
import { testRenewalLeases } from './session-store-lease-contract.ts';
import { listIds, readIds, testSessionsOfOwners } from './session-store-owner-contract.ts';

const ADA = new Uint8Array(16).fill(1);
const SID = new Uint8Array(16).fill(3);
const PRINCIPAL: SessionOwner = { kind: 'principal', key: ADA };
const AT_IDP: SessionOwner = { kind: 'sid', key: SID };
/** Every session there is, and every sign-in started before noon. */
const ALL_SO_FAR = { sessionsUpTo: Number.MAX_SAFE_INTEGER, signInsUpTo: NOON };
const REASONS: readonly EndReason[] = [
  'signed_out',
  'session_replaced',
  'session_revoked',
  'renewal_refused',
  'renewal_lost',
];

/**
 * Registers the suite.
 *
 * @param name - Shown in the report.
 * @param create - Makes an empty deployment for the running test.
 * @param seenWithinMs - How soon a process learns what another one ended.
 */
export function testSessionStoreRenewal(
  name: string,
  create: (clock: Clock) => StoreUnderTest,
  seenWithinMs: number,
): void {
  const withStores = createWithStores(create);

  describe(`SessionStore contract, ${name}: replace`, () => {
    it('puts the next generation in the place of the one before, for every process', () =>
      withStores(async (one, other) => {
        const session = createStoredSession(1, { sidKey: SID });
        const neighbour = createStoredSession(2);
        await one.create(session, undefined);
        await one.create(neighbour, undefined);
        const renewed = renew(session, {
          lastUsedAt: NOON + 60_000,
          absoluteEnd: NOON + 900_000_000,
          idleTimeoutMs: 7_200_000,
        });
        expect(await other.replace(renewed)).toBe(true);
        for (const store of [one, other]) {
          expect(await store.read(1)).toEqual(renewed);
          expect(await store.read(2)).toEqual(neighbour);
        }
      }));

    it.each([3, 4, 6])('changes nothing where generation 4 stands and %d arrives', (generation) =>
      withStores(async (one, other) => {
        const session = createStoredSession(1, { generation: 4 });
        await one.create(session, undefined);
        expect(await other.replace({ ...renew(session), generation })).toBe(false);
        expect(await one.read(1)).toEqual(session);
      }),
    );

    it('brings back no session that is gone, and makes none that never was', () =>
      withStores(async (one, other) => {
        const session = createStoredSession(1);
        await one.create(session, undefined);
        await one.revoke(1);
        expect(await other.replace(renew(session))).toBe(false);
        expect(await other.replace(renew(createStoredSession(2)))).toBe(false);
        expect(await readIds(one, [1, 2])).toEqual([]);
        expect(await listIds(one, 10)).toEqual([]);
        expect(await one.listByPrincipal(ADA, 10)).toEqual([]);
      }));

    it('lets exactly one of 20 concurrent attempts over two processes win, and keeps what that wrote', () =>
      withStores(async (one, other) => {
        const session = createStoredSession(1);
        await one.create(session, undefined);
        const attempts = Array.from({ length: 20 }, () => renew(session));
        const won = await Promise.all(
          attempts.map((attempt, index) => (index % 2 === 0 ? one : other).replace(attempt)),
        );
        expect(won.filter(Boolean)).toHaveLength(1);
        expect(await one.read(1)).toEqual(attempts[won.indexOf(true)]);
      }));

    it('leaves no session behind when it meets its end, whichever comes first', () =>
      withStores(async (one, other) => {
        for (let id = 1; id <= 20; id += 1) {
          const session = createStoredSession(id);
          await one.create(session, undefined);
          const ending = () => one.revoke(id);
          const replacing = () => other.replace(renew(session));
          await Promise.all(id % 2 === 0 ? [ending(), replacing()] : [replacing(), ending()]);
          expect(await other.read(id)).toBeUndefined();
        }
      }));

    it.each([
      ['that was noted meanwhile', NOON + 90_000, NOON + 60_000, NOON + 90_000],
      ['of the replacement', NOON + 60_000, NOON + 90_000, NOON + 90_000],
    ])('keeps the later last use, the one %s', (_, noted, brought, kept) =>
      withStores(async (one, other) => {
        const session = createStoredSession(1);
        await one.create(session, undefined);
        await other.touch(1, noted);
        const renewed = renew(session, { lastUsedAt: brought });
        expect(await one.replace(renewed)).toBe(true);
        expect(await other.read(1)).toEqual({ ...renewed, lastUsedAt: kept });
      }),
    );

    it('moves the end: what ended before is swept no more, and what ends sooner is', () =>
      withStores(async (one, other, clock) => {
        const longer = createStoredSession(1, { absoluteEnd: NOON + 1_000 });
        const shorter = createStoredSession(2);
        await one.create(longer, undefined);
        await one.create(shorter, undefined);
        await one.replace(renew(longer, { absoluteEnd: NOON + 10_000 }));
        await one.replace(renew(shorter, { absoluteEnd: NOON + 1_000 }));
        clock.set(NOON + 1_000);
        expect(await other.sweep(10)).toBe(1);
        expect(await readIds(one, [1, 2])).toEqual([1]);
      }));

    it('leaves the session where its owner finds it', () =>
      withStores(async (one, other) => {
        const session = createStoredSession(1, { sidKey: SID });
        await one.create(session, undefined);
        await one.replace(renew(session));
        expect((await other.listByPrincipal(ADA, 10)).map(({ id }) => id)).toEqual([1]);
        expect(await other.revokeAll(AT_IDP, ALL_SO_FAR, 'session_revoked')).toEqual([1]);
      }));
  });

  testRenewalLeases(name, create);

  describe(`SessionStore contract, ${name}: reasons`, () => {
    it.each(REASONS)('%s is known afterwards, to every process', (reason) =>
      withStores(async (one, other) => {
        await one.create(createStoredSession(1), undefined);
        await one.create(createStoredSession(2), undefined);
        await one.revoke(1, reason);
        for (const store of [one, other]) {
          expect(await store.endReason(1)).toBe(reason);
          expect(await store.endReason(2)).toBeUndefined();
        }
      }),
    );

    it('is signed_out where none is given, and session_replaced for what a new session ended', () =>
      withStores(async (one, other) => {
        await one.create(createStoredSession(1), undefined);
        await one.create(createStoredSession(2), undefined);
        await one.revoke(1);
        await other.create(createStoredSession(3), 2);
        expect(await other.endReason(1)).toBe('signed_out');
        expect(await one.endReason(2)).toBe('session_replaced');
        expect(await one.endReason(3)).toBeUndefined();
      }));

    it('is none for an id that was never used, and none for a session past its end, swept or not', () =>
      withStores(async (one, other, clock) => {
        await one.create(createStoredSession(1), undefined);
        clock.advance(604_800_000);
        expect(await one.endReason(1)).toBeUndefined();
        expect(await other.sweep(10)).toBe(1);
        expect(await one.endReason(1)).toBeUndefined();
        expect(await one.endReason(2)).toBeUndefined();
      }));
  });

  describe(`SessionStore contract, ${name}: the end of one generation`, () => {
    it('ends a session of that generation, for every process, with its reason', () =>
      withStores(async (one, other, clock) => {
        await one.create(createStoredSession(1, { generation: 4 }), undefined);
        other.revocations();
        expect(await one.revokeGeneration(1, 4, 'renewal_refused')).toBe(true);
        clock.advance(seenWithinMs);
        expect(await other.read(1)).toBeUndefined();
        expect(await other.endReason(1)).toBe('renewal_refused');
        for (const store of [one, other]) expect(store.revocations().sessions).toContain(1);
      }));

    it('leaves a session of another generation alone, and reports nothing', () =>
      withStores(async (one, other, clock) => {
        const session = createStoredSession(1, { generation: 4 });
        await one.create(session, undefined);
        for (const store of [one, other]) store.revocations();
        expect(await one.revokeGeneration(1, 3, 'renewal_refused')).toBe(false);
        expect(await one.revokeGeneration(1, 5, 'renewal_refused')).toBe(false);
        expect(await one.revokeGeneration(2, 1, 'renewal_refused')).toBe(false);
        clock.advance(seenWithinMs);
        expect(await other.read(1)).toEqual(session);
        expect(await other.endReason(1)).toBeUndefined();
        for (const store of [one, other]) expect(store.revocations().sessions).toEqual([]);
      }));

    it('and its replacement: exactly one of both happens', () =>
      withStores(async (one, other) => {
        for (let id = 1; id <= 20; id += 1) {
          const session = createStoredSession(id);
          await one.create(session, undefined);
          const ending = () => one.revokeGeneration(id, 1, 'renewal_refused');
          const replacing = () => other.replace(renew(session));
          const [first, second] = await Promise.all(
            id % 2 === 0 ? [ending(), replacing()] : [replacing(), ending()],
          );
          expect([first, second].filter(Boolean)).toHaveLength(1);
          const isReplaced = id % 2 === 0 ? second : first;
          expect((await other.read(id))?.generation).toBe(isReplaced ? 2 : undefined);
        }
      }));
  });

  testSessionsOfOwners(name, create, seenWithinMs);

  describe(`SessionStore contract, ${name}: closed, the rest`, () => {
    it('rejects everything with SP_STORE_UNAVAILABLE, and leaves other processes alone', () =>
      withStores(async (one, other) => {
        const session = createStoredSession(1);
        await one.create(session, undefined);
        one.close();
        const refused: Promise<unknown>[] = [
          one.replace(renew(session)),
          one.noteRenewalSent(1, 1, 'a', 60_000),
          one.withdrawRenewalSent(1, 1, 'a'),
          one.lease(1, 'a', 60_000),
          one.release(1, 'a'),
          one.revoke(1, 'session_revoked'),
          one.revokeGeneration(1, 1, 'session_revoked'),
          one.revokeAll(PRINCIPAL, ALL_SO_FAR, 'session_revoked'),
          one.endReason(1),
          one.listByPrincipal(ADA, 10),
          one.list(undefined, 10),
        ];
        for (const call of refused) await expect(call).rejects.toEqual(UNAVAILABLE);
        expect(await other.read(1)).toEqual(session);
        expect(await other.lease(1, 'b', 60_000)).toBe(true);
      }));
  });
}

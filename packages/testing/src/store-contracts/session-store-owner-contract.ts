/**
 * The part of the contract suite of {@link SessionStore} that is about owners: the end of all their
 * sessions, and lists. Imported by tests only.
 *
 * @module
 */

import { describe, expect, it } from 'vitest';
import type { SessionOwner, SessionStore } from '../../../server/src/session/session-store.ts';
import { type Clock, NOON } from '../time/clock.ts';
import {
  createStoredSession,
  createWithStores,
  type StoreUnderTest,
} from './session-store-contract.ts';

const ADA = new Uint8Array(16).fill(1);
const GRACE = new Uint8Array(16).fill(2);
const SID = new Uint8Array(16).fill(3);
const OTHER_SID = new Uint8Array(16).fill(4);
const PRINCIPAL: SessionOwner = { kind: 'principal', key: ADA };
const AT_IDP: SessionOwner = { kind: 'sid', key: SID };
/** Every session there is, and every sign-in started up to noon. */
const ALL_SO_FAR = { sessionsUpTo: Number.MAX_SAFE_INTEGER, signInsUpTo: NOON };

/** Those of the given sessions that stand. */
export async function readIds(
  store: SessionStore,
  ids: readonly number[],
): Promise<readonly number[]> {
  const found = await Promise.all(ids.map((id) => store.read(id)));
  return found.flatMap((session) => (session === undefined ? [] : [session.id]));
}

/** The ids of all pages, in order, repetitions included; `between` runs after each. */
export async function listIds(
  store: SessionStore,
  limit: number,
  between: (page: number) => Promise<void> = async () => {},
): Promise<readonly number[]> {
  const ids: number[] = [];
  let cursor: string | undefined;
  for (let page = 1; page <= 1_000; page += 1) {
    const { sessions, next } = await store.list(cursor, limit);
    ids.push(...sessions.map(({ id }) => id));
    if (next === undefined) return ids;
    cursor = next;
    await between(page);
  }
  throw new Error('the pages do not end');
}

const sorted = (ids: readonly number[]): readonly number[] => ids.toSorted((a, b) => a - b);

/** Registers the cases; see `testSessionStoreRenewal`, which runs them. */
export function testSessionsOfOwners(
  name: string,
  create: (clock: Clock) => StoreUnderTest,
  seenWithinMs: number,
): void {
  const withStores = createWithStores(create);

  describe(`SessionStore contract, ${name}: the end of all of an owner`, () => {
    it('ends every session of a principal for every process, and no other principal’s', () =>
      withStores(async (one, other, clock) => {
        await one.create(createStoredSession(1), undefined);
        await one.create(createStoredSession(2, { sidKey: SID }), undefined);
        await one.create(createStoredSession(3, { principalKey: GRACE }), undefined);
        await one.create(createStoredSession(4, { principalKey: GRACE, sidKey: SID }), undefined);
        other.revocations();
        const ended = await one.revokeAll(PRINCIPAL, ALL_SO_FAR, 'session_revoked');
        expect(sorted(ended)).toEqual([1, 2]);
        clock.advance(seenWithinMs);
        for (const store of [one, other]) {
          expect(await readIds(store, [1, 2, 3, 4])).toEqual([3, 4]);
          expect(await store.endReason(1)).toBe('session_revoked');
          expect(await store.endReason(3)).toBeUndefined();
          expect(store.revocations().sessions).toEqual(expect.arrayContaining([1, 2]));
        }
      }));

    it('ends every session of one session at the IdP, and no other of the same principal', () =>
      withStores(async (one, other, clock) => {
        await one.create(createStoredSession(1, { sidKey: SID }), undefined);
        await one.create(createStoredSession(2, { sidKey: SID }), undefined);
        await one.create(createStoredSession(3, { sidKey: OTHER_SID }), undefined);
        await one.create(createStoredSession(4), undefined);
        for (const store of [one, other]) store.revocations();
        const ended = await other.revokeAll(AT_IDP, ALL_SO_FAR, 'session_revoked');
        expect(sorted(ended)).toEqual([1, 2]);
        clock.advance(seenWithinMs);
        expect(await readIds(one, [1, 2, 3, 4])).toEqual([3, 4]);
        const reported = one.revocations().sessions;
        expect(reported).toEqual(expect.arrayContaining([1, 2]));
        expect(reported).not.toContain(3);
        expect(reported).not.toContain(4);
      }));

    it('ends those of a principal that belong to no known session at the IdP, and sign-ins that bring none', () =>
      withStores(async (one, other) => {
        await one.create(createStoredSession(1), undefined);
        await one.create(createStoredSession(2, { sidKey: SID }), undefined);
        await one.create(createStoredSession(3, { principalKey: GRACE }), undefined);
        const unlinked: SessionOwner = { kind: 'principal_without_sid', key: ADA };
        expect(await other.revokeAll(unlinked, ALL_SO_FAR, 'session_revoked')).toEqual([1]);
        await one.create(createStoredSession(4), undefined);
        await one.create(createStoredSession(5, { sidKey: SID }), undefined);
        await one.create(createStoredSession(6, { signInAt: NOON + 1 }), undefined);
        expect(await readIds(other, [1, 2, 3, 4, 5, 6])).toEqual([2, 3, 5, 6]);
      }));

    it('ends more than one part of them', () =>
      withStores(async (one, other) => {
        const ids = Array.from({ length: 450 }, (_, index) => index + 1);
        await Promise.all(ids.map((id) => one.create(createStoredSession(id), undefined)));
        await one.create(createStoredSession(1_000, { principalKey: GRACE }), undefined);
        const ended = await other.revokeAll(PRINCIPAL, ALL_SO_FAR, 'session_revoked');
        expect(sorted(ended)).toEqual(ids);
        expect(await readIds(one, [1, 450, 1_000])).toEqual([1_000]);
      }));

    it('keeps principals and sessions at the IdP apart, also where their keys are the same bytes', () =>
      withStores(async (one) => {
        await one.create(createStoredSession(1, { principalKey: SID }), undefined);
        await one.create(createStoredSession(2, { sidKey: ADA, principalKey: GRACE }), undefined);
        expect(await one.revokeAll(AT_IDP, ALL_SO_FAR, 'session_revoked')).toEqual([]);
        expect(await one.revokeAll(PRINCIPAL, ALL_SO_FAR, 'session_revoked')).toEqual([]);
        await one.create(createStoredSession(3, { principalKey: SID }), undefined);
        expect(await readIds(one, [1, 2, 3])).toEqual([1, 2, 3]);
      }));

    it('reaches sessions by the start of their sign-in, up to that millisecond', () =>
      withStores(async (one, other) => {
        await one.create(createStoredSession(1, { signInAt: NOON - 1 }), undefined);
        await one.create(createStoredSession(2, { signInAt: NOON }), undefined);
        await one.create(createStoredSession(3, { signInAt: NOON + 1 }), undefined);
        const reach = { sessionsUpTo: NOON, signInsUpTo: 0 };
        const ended = await other.revokeAll(PRINCIPAL, reach, 'session_revoked');
        expect(sorted(ended)).toEqual([1, 2]);
        expect(await readIds(one, [1, 2, 3])).toEqual([3]);
      }));

    it('has nothing to end the second time', () =>
      withStores(async (one, other) => {
        await one.create(createStoredSession(1), undefined);
        expect(await one.revokeAll(PRINCIPAL, ALL_SO_FAR, 'session_revoked')).toEqual([1]);
        expect(await other.revokeAll(PRINCIPAL, ALL_SO_FAR, 'session_revoked')).toEqual([]);
      }));

    it.each([
      ['principal', PRINCIPAL],
      ['session at the IdP', AT_IDP],
    ])(
      'ends a session of that %s as it is created, when its sign-in was started before',
      (_, owner) =>
        withStores(async (one, other, clock) => {
          await one.revokeAll(owner, ALL_SO_FAR, 'renewal_refused');
          for (const store of [one, other]) store.revocations();
          const times = { sidKey: SID, signInAt: NOON };
          expect(await other.create(createStoredSession(1, times), undefined)).toBe(true);
          clock.advance(seenWithinMs);
          expect(await readIds(one, [1])).toEqual([]);
          expect(await one.endReason(1)).toBe('renewal_refused');
          for (const store of [one, other]) expect(store.revocations().sessions).toContain(1);
          expect(await one.listByPrincipal(ADA, 10)).toEqual([]);
          expect(await listIds(one, 10)).toEqual([]);
        }),
    );

    it('lets a session begin whose sign-in was started later, or of another owner', () =>
      withStores(async (one, other) => {
        await one.revokeAll(PRINCIPAL, ALL_SO_FAR, 'session_revoked');
        await one.revokeAll(AT_IDP, ALL_SO_FAR, 'session_revoked');
        const later = createStoredSession(1, { sidKey: SID, signInAt: NOON + 1 });
        const others = createStoredSession(2, { principalKey: GRACE, sidKey: OTHER_SID });
        await other.create(later, undefined);
        await other.create(others, undefined);
        expect(await readIds(one, [1, 2])).toEqual([1, 2]);
        expect(await one.endReason(1)).toBeUndefined();
      }));

    it('reaches as far as it ever did: a revocation that reaches less far takes nothing back', () =>
      withStores(async (one, other) => {
        await one.revokeAll(PRINCIPAL, ALL_SO_FAR, 'session_revoked');
        const less = { ...ALL_SO_FAR, signInsUpTo: NOON - 10_000 };
        await other.revokeAll(PRINCIPAL, less, 'session_revoked');
        await other.create(createStoredSession(1, { signInAt: NOON }), undefined);
        expect(await readIds(one, [1])).toEqual([]);
      }));

    it('also ends what such a session replaces', () =>
      withStores(async (one, other) => {
        await one.create(createStoredSession(1, { principalKey: GRACE }), undefined);
        await one.revokeAll(PRINCIPAL, ALL_SO_FAR, 'session_revoked');
        expect(await other.create(createStoredSession(2), 1)).toBe(true);
        expect(await readIds(one, [1, 2])).toEqual([]);
        expect(await one.endReason(1)).toBe('session_replaced');
      }));

    it('ends a session that is created at the same moment, whichever comes first', () =>
      withStores(async (one, other) => {
        for (let id = 1; id <= 20; id += 1) {
          const principalKey = new Uint8Array(16).fill(id);
          const owner: SessionOwner = { kind: 'principal', key: principalKey };
          const ending = () => one.revokeAll(owner, ALL_SO_FAR, 'session_revoked');
          const creating = () => other.create(createStoredSession(id, { principalKey }), undefined);
          await Promise.all(id % 2 === 0 ? [ending(), creating()] : [creating(), ending()]);
          expect(await readIds(one, [id])).toEqual([]);
          expect(await other.endReason(id)).toBe('session_revoked');
        }
      }));

    it('lets stand what is created at the same moment after a sign-in started later', () =>
      withStores(async (one, other) => {
        const reach = { sessionsUpTo: NOON, signInsUpTo: NOON };
        for (let id = 1; id <= 20; id += 1) {
          const ending = () => one.revokeAll(PRINCIPAL, reach, 'session_revoked');
          const creating = () =>
            other.create(createStoredSession(id, { signInAt: NOON + 1 }), undefined);
          await Promise.all(id % 2 === 0 ? [ending(), creating()] : [creating(), ending()]);
          expect(await readIds(one, [id])).toEqual([id]);
        }
      }));
  });

  describe(`SessionStore contract, ${name}: lists`, () => {
    it('give a principal’s sessions, also those past their end, and no other principal’s', () =>
      withStores(async (one, other, clock) => {
        const mine = [createStoredSession(1), createStoredSession(2, { sidKey: SID })];
        for (const session of mine) await one.create(session, undefined);
        await one.create(createStoredSession(3, { principalKey: GRACE, sidKey: SID }), undefined);
        clock.advance(604_800_000);
        const listed = await other.listByPrincipal(ADA, 10);
        expect(listed.toSorted((a, b) => a.id - b.id)).toEqual(mine);
        expect(await other.listByPrincipal(SID, 10)).toEqual([]);
      }));

    it('of a principal leave out what ended or was swept', () =>
      withStores(async (one, other, clock) => {
        await one.create(createStoredSession(1), undefined);
        await one.create(createStoredSession(2, { idleTimeoutMs: 10 }), undefined);
        await one.create(createStoredSession(3), undefined);
        await one.revoke(1);
        clock.advance(10);
        await one.sweep(10);
        expect((await other.listByPrincipal(ADA, 10)).map(({ id }) => id)).toEqual([3]);
      }));

    it('of a principal are no longer than they are asked to be', () =>
      withStores(async (one) => {
        for (let id = 1; id <= 7; id += 1) await one.create(createStoredSession(id), undefined);
        const ids = (await one.listByPrincipal(ADA, 3)).map(({ id }) => id);
        expect(new Set(ids).size).toBe(3);
        expect(await one.listByPrincipal(ADA, 7)).toHaveLength(7);
      }));

    it('of all have every session in some page, as it is stored', () =>
      withStores(async (one, other) => {
        const all = Array.from({ length: 30 }, (_, index) =>
          createStoredSession(index + 1, { principalKey: new Uint8Array(16).fill(index) }),
        );
        for (const session of all) await one.create(session, undefined);
        const { sessions } = await other.list(undefined, 4);
        for (const session of sessions)
          expect(session).toEqual(all.find(({ id }) => id === session.id));
        expect(sorted([...new Set(await listIds(other, 4))])).toEqual(all.map(({ id }) => id));
      }));

    it('of all have every session that stands throughout, while others come and go', () =>
      withStores(async (one, other) => {
        const standing = Array.from({ length: 300 }, (_, index) => 2 * index + 1);
        await Promise.all(standing.map((id) => one.create(createStoredSession(id), undefined)));
        for (let id = 2; id <= 40; id += 2) await one.create(createStoredSession(id), undefined);
        const ids = await listIds(other, 20, async (page) => {
          if (page <= 20) await one.revoke(2 * page);
          await one.create(createStoredSession(10_000 + page), undefined);
          if (page <= 20) await one.touch(2 * page + 1, NOON + page);
        });
        const seen = new Set(ids);
        expect(standing.filter((id) => !seen.has(id))).toEqual([]);
      }));

    it('of all are one empty page where there is nothing', () =>
      withStores(async (one, other) => {
        expect(await one.list(undefined, 10)).toEqual({ sessions: [], next: undefined });
        await one.create(createStoredSession(1), undefined);
        await one.revoke(1);
        expect(await listIds(other, 10)).toEqual([]);
      }));
  });
}

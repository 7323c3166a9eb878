/**
 * The part of the contract suite of {@link SessionStore} that is about the requests of renewals: notes of what was
 * sent to the IdP, and the lease of the process that sends. Imported by tests only.
 *
 * @module
 */

import { describe, expect, it } from 'vitest';
import { type Clock, NOON } from '../time/clock.ts';
import {
  createStoredSession,
  createWithStores,
  renew,
  type StoreUnderTest,
} from './session-store-contract.ts';
import { readIds } from './session-store-owner-contract.ts';

/** Registers the cases; see `testSessionStoreRenewal`, which runs them. */
export function testRenewalLeases(name: string, create: (clock: Clock) => StoreUnderTest): void {
  const withStores = createWithStores(create);

  describe(`SessionStore contract, ${name}: a renewal that was sent`, () => {
    it('is noted for the generation that stands, and changes nothing else', () =>
      withStores(async (one, other) => {
        const session = createStoredSession(1, { generation: 4 });
        await one.create(session, undefined);
        expect(await one.noteRenewalSent(1, 4, 'a', 60_000)).toBe(true);
        expect(await other.read(1)).toEqual({ ...session, renewalSent: true });
        expect(await other.noteRenewalSent(1, 4, 'a', 60_000)).toBe(true);
      }));

    it('is not noted for another generation, nor for a session that is gone', () =>
      withStores(async (one, other) => {
        const session = createStoredSession(1, { generation: 4 });
        await one.create(session, undefined);
        expect(await other.noteRenewalSent(1, 3, 'a', 60_000)).toBe(false);
        expect(await other.noteRenewalSent(1, 5, 'a', 60_000)).toBe(false);
        expect(await one.read(1)).toEqual(session);
        await one.revoke(1);
        expect(await other.noteRenewalSent(1, 4, 'a', 60_000)).toBe(false);
        expect(await other.noteRenewalSent(2, 1, 'a', 60_000)).toBe(false);
        expect(await readIds(one, [1, 2])).toEqual([]);
      }));

    it('is over with its replacement', () =>
      withStores(async (one, other) => {
        const session = createStoredSession(1);
        await one.create(session, undefined);
        await one.noteRenewalSent(1, 1, 'a', 60_000);
        await other.replace(renew(session, { renewalSent: true }));
        expect((await one.read(1))?.renewalSent).toBe(false);
      }));

    it('stays noted when a use is noted', () =>
      withStores(async (one, other) => {
        await one.create(createStoredSession(1), undefined);
        await one.noteRenewalSent(1, 1, 'a', 60_000);
        await other.touch(1, NOON + 60_000);
        expect((await one.read(1))?.renewalSent).toBe(true);
      }));
  });

  describe(`SessionStore contract, ${name}: a renewal that could not be sent`, () => {
    it('is noted no longer, and changes nothing else', () =>
      withStores(async (one, other) => {
        const session = createStoredSession(1, { generation: 4 });
        await one.create(session, undefined);
        await one.noteRenewalSent(1, 4, 'a', 60_000);
        await one.withdrawRenewalSent(1, 4, 'a');
        expect(await other.read(1)).toEqual(session);
        // The lease stays as it was.
        expect(await other.lease(1, 'b', 60_000)).toBe(false);
        expect(await one.noteRenewalSent(1, 4, 'a', 60_000)).toBe(true);
        expect((await other.read(1))?.renewalSent).toBe(true);
      }));

    it.each([
      ['of another generation', 3, 'a'],
      ['of another holder', 4, 'b'],
    ])('stays noted for one %s: that one may have been sent', (_, generation, holder) =>
      withStores(async (one, other) => {
        await one.create(createStoredSession(1, { generation: 4 }), undefined);
        await one.noteRenewalSent(1, 4, 'a', 60_000);
        await other.withdrawRenewalSent(1, generation, holder);
        expect((await one.read(1))?.renewalSent).toBe(true);
      }),
    );

    it('stays noted once another has the lease, and once the lease was given back', () =>
      withStores(async (one, other, _, elapse) => {
        await one.create(createStoredSession(1), undefined);
        await one.noteRenewalSent(1, 1, 'a', 200);
        await elapse(201);
        await other.lease(1, 'b', 60_000);
        await one.withdrawRenewalSent(1, 1, 'a');
        expect((await one.read(1))?.renewalSent).toBe(true);
        await other.release(1, 'b');
        await other.withdrawRenewalSent(1, 1, 'b');
        expect((await one.read(1))?.renewalSent).toBe(true);
      }));

    it('brings back no session that is gone', () =>
      withStores(async (one) => {
        await one.create(createStoredSession(1), undefined);
        await one.noteRenewalSent(1, 1, 'a', 60_000);
        await one.revoke(1);
        await one.withdrawRenewalSent(1, 1, 'a');
        expect(await readIds(one, [1])).toEqual([]);
      }));
  });

  describe(`SessionStore contract, ${name}: sending with a lease`, () => {
    it('prolongs the lease of who sends', () =>
      withStores(async (one, other, _, elapse) => {
        await one.create(createStoredSession(1), undefined);
        await one.lease(1, 'a', 1_000);
        expect(await one.noteRenewalSent(1, 1, 'a', 60_000)).toBe(true);
        await elapse(1_001);
        expect(await other.lease(1, 'b', 60_000)).toBe(false);
      }));

    it('is refused to a holder that has lost the lease to another meanwhile, and notes nothing', () =>
      withStores(async (one, other, _, elapse) => {
        await one.create(createStoredSession(1), undefined);
        await one.lease(1, 'a', 200);
        await elapse(201);
        await other.lease(1, 'b', 60_000);
        expect(await one.noteRenewalSent(1, 1, 'a', 60_000)).toBe(false);
        expect((await one.read(1))?.renewalSent).toBe(false);
        expect(await other.noteRenewalSent(1, 1, 'b', 60_000)).toBe(true);
      }));

    it('goes to the first caller when a lease has ended that no other process took', () =>
      withStores(async (one, other, _, elapse) => {
        await one.create(createStoredSession(1), undefined);
        await one.lease(1, 'a', 200);
        await elapse(201);
        expect(await one.noteRenewalSent(1, 1, 'a', 60_000)).toBe(true);
        expect(await other.noteRenewalSent(1, 1, 'b', 60_000)).toBe(false);
      }));
  });

  describe(`SessionStore contract, ${name}: lease`, () => {
    it('has one holder, however many ask at the same time over two processes', () =>
      withStores(async (one, other) => {
        const asked = Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? one : other).lease(1, `holder-${index}`, 60_000),
        );
        const granted = await Promise.all(asked);
        expect(granted.filter(Boolean)).toHaveLength(1);
        const holder = `holder-${granted.indexOf(true)}`;
        expect(await other.lease(1, holder, 60_000)).toBe(true);
        expect(await one.lease(1, 'another holder', 60_000)).toBe(false);
      }));

    it('of one session does not hold for another', () =>
      withStores(async (one, other) => {
        expect(await one.lease(1, 'a', 60_000)).toBe(true);
        expect(await other.lease(2, 'b', 60_000)).toBe(true);
      }));

    it('is prolonged by its holder', () =>
      withStores(async (one, other, _, elapse) => {
        await one.lease(1, 'a', 60_000);
        await elapse(40_000);
        expect(await other.lease(1, 'a', 60_000)).toBe(true);
        await elapse(40_000);
        expect(await other.lease(1, 'b', 60_000)).toBe(false);
      }));

    it('is free once its time is over', () =>
      withStores(async (one, other, _, elapse) => {
        await one.lease(1, 'a', 200);
        await elapse(201);
        expect(await other.lease(1, 'b', 60_000)).toBe(true);
        expect(await one.lease(1, 'a', 60_000)).toBe(false);
      }));

    it('is free once its holder gave it back', () =>
      withStores(async (one, other) => {
        await one.lease(1, 'a', 60_000);
        await one.release(1, 'a');
        expect(await other.lease(1, 'b', 60_000)).toBe(true);
      }));

    it('is not given back by another holder', () =>
      withStores(async (one, other) => {
        await one.lease(1, 'a', 60_000);
        await other.release(1, 'b');
        await other.release(2, 'a');
        expect(await other.lease(1, 'b', 60_000)).toBe(false);
      }));
  });
}

/**
 * A process that is asked to end lets the renewals under way come to their end.
 *
 * @module
 */

import { afterEach, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { type Fleet, startFleet } from '../wire/fleet.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { type RotatingIdp, startRotatingIdp } from '../wire/rotating-idp.ts';
import { ageLeases } from './local-leases.ts';

const DUE_MS = 8 * 60_000;
/** A lease that nobody prolongs ends so long after the request has left. */
const LEASE_MS = 20_000;

describe('A process that ends while the identity provider is asked', () => {
  let clock: MovedClock;
  let idp: RotatingIdp;
  let fleet: Fleet;
  afterEach(async () => {
    await fleet.stop();
    await idp.close();
    await clock.close();
  });

  async function renewalUnderWay(
    processes = 1,
  ): Promise<{ readonly cookie: string; release(): void }> {
    clock = await startMovedClock();
    idp = await startRotatingIdp({ clock });
    fleet = await startFleet({ processes, idp, clock });
    const cookie = await fleet.signIn(new Browser());
    await clock.advance(DUE_MS);
    const gate = idp.refreshes.holdAnswers();
    expect((await fleet.me(0, cookie)).status).toBe(200);
    await gate.holds(1);
    return { cookie, release: () => gate.open() };
  }

  it('waits for the answer and keeps it: the next process renews on, and nobody is signed out', async () => {
    const { cookie, release } = await renewalUnderWay();
    const restarted = fleet.restart(0);
    await expect.poll(() => fleet.running(0).stderr()).toContain('"stopping"');
    release();
    await restarted;
    expect((await fleet.me(0, cookie)).status).toBe(200);
    await clock.advance(2 * DUE_MS);
    expect((await fleet.me(0, cookie)).status).toBe(200);
    expect(idp.seenRefreshes().map(({ idpStatus }) => idpStatus)).toEqual([200, 200]);
  });

  it('and only waits for another process that asks ends at once, with 0', async () => {
    const { cookie, release } = await renewalUnderWay(2);
    expect((await fleet.me(1, cookie)).status).toBe(200);
    expect(await fleet.running(1).stop()).toBe(0);
    expect(idp.seenRefreshes()).toHaveLength(1);
    release();
    expect((await fleet.me(0, cookie)).status).toBe(200);
  });

  it('and is killed instead loses the answer, which its next renewal says', async () => {
    const { cookie, release } = await renewalUnderWay();
    await fleet.kill(0);
    release();
    await fleet.restart(0);
    await clock.advance(2 * DUE_MS);
    // The lease of who was killed stands; whoever asks meanwhile is told to come back.
    const answers = async () => {
      const { status, body } = await fleet.me(0, cookie);
      return `${status} ${(JSON.parse(body) as { readonly reason: string }).reason}`;
    };
    expect(await answers()).toBe('503 renewal_unavailable');
    await ageLeases(fleet.state, LEASE_MS);
    await expect.poll(answers, { timeout: 45_000 }).toBe('401 renewal_lost');
  }, 90_000);
});

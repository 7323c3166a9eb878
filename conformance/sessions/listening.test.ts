/**
 * A process that listens for the answer of an identity provider that stands still, while it is reloaded or
 * asked to end.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { type Fleet, startFleet } from '../wire/fleet.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import type { Gate, Waking } from '../wire/refresh-control.ts';
import { type RotatingIdp, startRotatingIdp } from '../wire/rotating-idp.ts';
import { logOf, PATIENCE } from '../wire/workers.ts';
import { tell } from './deployment.ts';
import { ageLeases } from './local-leases.ts';

const DUE_MS = 8 * 60_000;
const STEP_MS = 15_000;
const LEASE_MS = 20_000;
const LISTENER = 0;
const OTHER = 1;

describe('A process that listens for an identity provider that stands still', () => {
  let clock: MovedClock;
  let idp: RotatingIdp;
  let fleet: Fleet;
  afterEach(async () => {
    // Whoever ends would wait for an answer.
    idp.refreshes.pass();
    await fleet.stop();
    await idp.close();
    await clock.close();
  });

  /** A session whose renewal has been listened for since 90 s. */
  async function listen(processes: number, waking: Waking): Promise<readonly [string, Gate]> {
    clock = await startMovedClock({ movesTimers: true });
    idp = await startRotatingIdp({ clock });
    fleet = await startFleet({ processes, idp, clock });
    const cookie = await fleet.signIn(new Browser());
    await clock.advance(DUE_MS);
    const gate = idp.refreshes.freeze(waking);
    expect((await fleet.me(LISTENER, cookie)).status).toBe(200);
    await gate.holds(1);
    await pass(90_000, cookie, LISTENER);
    return [cookie, gate];
  }

  async function pass(ms: number, cookie: string, index: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await clock.advance(STEP_MS);
      expect((await fleet.me(index, cookie)).status).toBe(200);
    }
  }

  const linesOf = (index: number, event: string) =>
    logOf(fleet.running(index)).filter((line) => line['event'] === event);
  const statuses = () => idp.seenRefreshes().map(({ idpStatus }) => idpStatus);

  it('goes on listening after a reload, and keeps the answer: nobody is signed out', async () => {
    const [cookie, gate] = await listen(1, 'carries out');
    const before = linesOf(LISTENER, 'configuration_loaded').length;
    writeFileSync(join(fleet.state, 'sallyport-0.yaml'), 'session: {renewalsPerSecond: 21}\n');
    process.kill(fleet.running(LISTENER).pid, 'SIGHUP');
    await expect
      .poll(() => linesOf(LISTENER, 'configuration_loaded').length, PATIENCE)
      .toBeGreaterThan(before);
    await pass(120_000, cookie, LISTENER);
    expect(statuses()).toEqual([undefined]);
    gate.open();
    await expect.poll(() => linesOf(LISTENER, 'session_renewed').length, PATIENCE).toBe(1);
    await clock.advance(DUE_MS);
    expect((await fleet.me(LISTENER, cookie)).status).toBe(200);
    await expect.poll(() => linesOf(LISTENER, 'session_renewed').length, PATIENCE).toBe(2);
    expect(statuses()).toEqual([200, 200]);
    expect(linesOf(LISTENER, 'session_ended')).toEqual([]);
  });

  it.each([
    ['carries out', [200, 400], '401 renewal_lost'],
    ['drops', [undefined, 200], '200'],
  ] as const)(
    'ends in its time when it is asked to; where the provider then %s the request, the next process sends it once more: %o, %s',
    async (waking, answered, told) => {
      const [cookie, gate] = await listen(2, waking);
      let isOver = false;
      const ending = fleet
        .running(LISTENER)
        .stop()
        .finally(() => {
          isOver = true;
        });
      while (!isOver) await clock.advance(STEP_MS / 3);
      expect(await ending).toBe(0);
      expect(statuses()).toEqual([undefined]);
      gate.open();
      idp.refreshes.pass();
      await ageLeases(fleet.state, LEASE_MS);
      expect((await fleet.me(OTHER, cookie)).status).toBe(200);
      const settled = async () => {
        await clock.advance(1_000);
        await fleet.me(OTHER, cookie);
        return statuses();
      };
      await expect.poll(settled, PATIENCE).toEqual(answered);
      await expect.poll(async () => tell(await fleet.me(OTHER, cookie)), PATIENCE).toBe(told);
      expect(linesOf(OTHER, 'session_ended').map((line) => line['reason'])).toEqual(
        told === '200' ? [] : ['renewal_lost'],
      );
    },
  );
});

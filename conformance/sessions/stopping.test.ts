/**
 * A process that has asked the identity provider for a renewal, and is reloaded, asked to end or killed
 * before the answer has come.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { type Fleet, startFleet } from '../wire/fleet.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import type { Gate } from '../wire/refresh-control.ts';
import { type RotatingIdp, startRotatingIdp } from '../wire/rotating-idp.ts';
import { isRunning, logOf, PATIENCE } from '../wire/workers.ts';
import { statusOf } from './deployment.ts';
import { ageLeases } from './local-leases.ts';

const DUE_MS = 8 * 60_000;
const STEP_MS = 15_000;
/** Longer than requests wait for an answer: after that it is only listened for. */
const LISTENED_MS = 75_000;
/** Of the clock; a process that is asked to end has ended before that. */
const ENDS_WITHIN_MS = 35_000;
/** A lease that is not prolonged ends so long after the request has left. */
const LEASE_MS = 20_000;
const [ASKER, OTHER] = [0, 1];

let clock: MovedClock;
let idp: RotatingIdp;
let fleet: Fleet;
let refreshesBefore: number;

beforeAll(async () => {
  clock = await startMovedClock({ movesTimers: true });
  idp = await startRotatingIdp({ clock });
  fleet = await startFleet({ processes: 2, idp, clock });
});
beforeEach(async () => {
  for (const index of [ASKER, OTHER])
    if (!isRunning(fleet.running(index).pid)) await fleet.restart(index);
  refreshesBefore = idp.seenRefreshes().length;
});
// A process that ends would wait for an answer.
afterEach(() => idp.refreshes.pass());
afterAll(async () => {
  await fleet.stop();
  await idp.close();
  await clock.close();
});

/** A session whose renewal {@link ASKER} has sent, with the gate that holds it at the provider. */
async function askRenewal(close: () => Gate): Promise<readonly [cookie: string, gate: Gate]> {
  const cookie = await fleet.signIn(new Browser());
  await clock.advance(DUE_MS);
  const gate = close();
  expect((await fleet.me(ASKER, cookie)).status).toBe(200);
  await gate.holds(1);
  return [cookie, gate];
}

async function pass(ms: number, cookie: string): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    await clock.advance(STEP_MS);
    expect((await fleet.me(ASKER, cookie)).status).toBe(200);
  }
}

const linesOf = (index: number, event: string) =>
  logOf(fleet.running(index)).filter((line) => line['event'] === event);
/** What the provider has answered to the refreshes of this test. */
const statuses = () =>
  idp
    .seenRefreshes()
    .slice(refreshesBefore)
    .map(({ idpStatus }) => idpStatus);
const verdict = async (index: number, cookie: string) => statusOf(await fleet.me(index, cookie));

describe('A process that listens for an identity provider that stands still', () => {
  async function listen(waking: 'carries out' | 'drops'): ReturnType<typeof askRenewal> {
    const [cookie, gate] = await askRenewal(() => idp.refreshes.freeze(waking));
    await pass(LISTENED_MS, cookie);
    return [cookie, gate];
  }

  it('goes on listening after a reload, and keeps the answer: the session goes on', async () => {
    const [cookie, gate] = await listen('carries out');
    const before = linesOf(ASKER, 'configuration_loaded').length;
    writeFileSync(
      join(fleet.state, `sallyport-${ASKER}.yaml`),
      'session: {renewalsPerSecond: 21}\n',
    );
    process.kill(fleet.running(ASKER).pid, 'SIGHUP');
    await expect
      .poll(() => linesOf(ASKER, 'configuration_loaded').length, PATIENCE)
      .toBeGreaterThan(before);
    await pass(120_000, cookie);
    expect(statuses()).toEqual([undefined]);
    gate.open();
    await expect.poll(() => linesOf(ASKER, 'session_renewed').length, PATIENCE).toBe(1);
    await clock.advance(DUE_MS);
    expect((await fleet.me(ASKER, cookie)).status).toBe(200);
    await expect.poll(() => linesOf(ASKER, 'session_renewed').length, PATIENCE).toBe(2);
    expect(statuses()).toEqual([200, 200]);
    expect(linesOf(ASKER, 'session_ended')).toEqual([]);
  });

  it.each([
    ['carries out', [200, 400], '401 renewal_lost'],
    ['drops', [undefined, 200], '200'],
  ] as const)(
    'ends in its time when it is asked to; where the provider then %s the request, the next process sends it once more: %o, %s',
    async (waking, answered, expected) => {
      const endings = linesOf(OTHER, 'session_ended').length;
      const [cookie, gate] = await listen(waking);
      const asker = fleet.running(ASKER);
      let isOver = false;
      const ending = asker.stop().finally(() => {
        isOver = true;
      });
      await expect.poll(() => asker.stderr(), PATIENCE).toContain('"stopping"');
      for (let passed = 0; !isOver && passed < ENDS_WITHIN_MS; passed += STEP_MS / 3)
        await clock.advance(STEP_MS / 3);
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
      await expect.poll(() => verdict(OTHER, cookie), PATIENCE).toBe(expected);
      const reasons = linesOf(OTHER, 'session_ended').slice(endings);
      expect(reasons.map((line) => line['reason'])).toEqual(
        expected === '200' ? [] : ['renewal_lost'],
      );
    },
  );
});

describe('A process that ends while the identity provider is asked', () => {
  it('waits for the answer and keeps it: the next process renews on, and the session goes on', async () => {
    const [cookie, gate] = await askRenewal(() => idp.refreshes.holdAnswers());
    const ended = fleet.running(ASKER);
    const restarted = fleet.restart(ASKER);
    await expect.poll(() => ended.stderr(), PATIENCE).toContain('"stopping"');
    gate.open();
    await restarted;
    expect((await fleet.me(ASKER, cookie)).status).toBe(200);
    await clock.advance(2 * DUE_MS);
    expect((await fleet.me(ASKER, cookie)).status).toBe(200);
    expect(statuses()).toEqual([200, 200]);
  });

  it('and only waits for another process that asks ends at once, with 0', async () => {
    const [cookie, gate] = await askRenewal(() => idp.refreshes.holdAnswers());
    expect((await fleet.me(OTHER, cookie)).status).toBe(200);
    expect(await fleet.running(OTHER).stop()).toBe(0);
    expect(statuses()).toEqual([200]);
    gate.open();
    expect((await fleet.me(ASKER, cookie)).status).toBe(200);
  });

  it('and is killed instead loses the answer, which its next renewal says', async () => {
    const [cookie, gate] = await askRenewal(() => idp.refreshes.holdAnswers());
    await fleet.kill(ASKER);
    gate.open();
    await fleet.restart(ASKER);
    await clock.advance(2 * DUE_MS);
    /** Asked once, while the clock goes on: a request waits for a lease that stands. */
    const answer = async () => {
      let isAnswered = false;
      const asked = verdict(ASKER, cookie).finally(() => {
        isAnswered = true;
      });
      while (!isAnswered) await clock.advance(1_000);
      return asked;
    };
    // The lease of the killed process stands, and its holder may still write.
    expect(await answer()).toBe('503 renewal_unavailable');
    expect(statuses()).toEqual([200]);
    await ageLeases(fleet.state, LEASE_MS);
    await expect.poll(answer, PATIENCE).toBe('401 renewal_lost');
    expect(statuses()).toEqual([200, 400]);
  });
});

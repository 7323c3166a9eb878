/**
 * Suite: an outage of the identity provider ends no session, and its end does not overload the provider.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import type { Received } from '../wire/exchange.ts';
import { type DeploymentUnderTest, statusOf } from './deployment.ts';
import {
  RENEWALS_PER_SECOND,
  type RenewingDeployment,
  startRenewingDeployment,
} from './renewing-deployment.ts';

const SESSIONS = 120;
/** Those of them that ask while the IdP is away: one at each process, since more would wait in line. */
const ASKED = 3;
/** A process that sent nothing for a while may send what one second allows at once. */
const BURST = RENEWALS_PER_SECOND;
const MINUTE_MS = 60_000;
/** Longer than a process leaves an IdP alone that did not answer. */
const LONGEST_PAUSE_MS = 31_000;
/** All of them at a third of the budget, as when one process had them all, and as long again. */
const SERVED_WITHIN_MS = (2 * SESSIONS * 1_000) / RENEWALS_PER_SECOND;

/** Registers the suite. */
export function testIdpOutage(under: DeploymentUnderTest): void {
  describe(`The IdP is away for ten minutes (${under.name})`, () => {
    let deployment: RenewingDeployment;
    let old: readonly string[];
    let young: string;
    beforeAll(async () => {
      deployment = await startRenewingDeployment(under);
      old = await signInMany(deployment, SESSIONS);
      await deployment.clock.advance(5 * MINUTE_MS);
      young = await deployment.signIn(new Browser(), 'grace');
      await deployment.clock.advance(MINUTE_MS);
      await deployment.idp.goDown();
    });
    afterAll(() => deployment.stop());

    /** Every session once, at one of the processes. */
    const askAll = (cookies: readonly string[]): Promise<readonly Received[]> =>
      Promise.all(cookies.map((cookie, index) => deployment.meAnywhere(index, cookie)));
    const statusesOf = (answers: readonly Received[]) => [...new Set(answers.map(statusOf))];

    it('sessions within their bound stay', async () => {
      // Seven minutes and more after the sign-in: due, so that every request tries.
      await deployment.clock.advance(2 * MINUTE_MS);
      for (let count = 0; count < 12; count += 1) {
        await deployment.clock.advance(LONGEST_PAUSE_MS);
        expect(await deployment.verdicts(old[count] ?? '')).toEqual(['200', '200', '200']);
      }
      expect(statusesOf(await askAll(old))).toEqual(['200']);
      expect(statusesOf(await askAll([young]))).toEqual(['200']);
      expect(deployment.log('renewal_failed').length).toBeGreaterThan(0);
    });

    it('beyond it they are undecided: 503 renewal_unavailable with Retry-After, and younger ones stay', async () => {
      await deployment.clock.advance(2 * MINUTE_MS);
      const undecided = await askAll(old.slice(0, ASKED));
      expect(statusesOf(undecided)).toEqual(['503 renewal_unavailable']);
      for (const { headers } of undecided)
        expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(statusesOf(await askAll([young]))).toEqual(['200']);
    });

    it('no session has ended, and no refresh reached the IdP', () => {
      expect(deployment.endings()).toEqual([]);
      expect(deployment.idp.seenRefreshes()).toEqual([]);
    });

    it(`back up, ${SESSIONS} clients that wait as Retry-After says are all served, and the IdP never gets more than budget and burst in a second`, async () => {
      await deployment.idp.comeUp();
      await deployment.clock.advance(LONGEST_PAUSE_MS);
      const since = performance.now();
      await Promise.all(
        old.map(async (cookie, index) => {
          let answer = await deployment.meAnywhere(index, cookie);
          while (answer.status === 503 && performance.now() - since < SERVED_WITHIN_MS) {
            await pause(Number(answer.headers['retry-after']) * 1_000);
            answer = await deployment.meAnywhere(index, cookie);
          }
          expect(statusOf(answer)).toBe('200');
        }),
      );
      expect(performance.now() - since).toBeLessThan(SERVED_WITHIN_MS);
      expect(await deployment.verdicts(young)).toEqual(['200', '200', '200']);
      expect(deployment.endings()).toEqual([]);

      const refreshes = deployment.idp.seenRefreshes();
      const tokens = refreshes.map(({ form }) => form.get('refresh_token'));
      expect(new Set(tokens).size).toBe(tokens.length);
      const times = refreshes.map(({ at }) => at);
      const processes = deployment.indexes.length;
      expect(times.length).toBeGreaterThanOrEqual(SESSIONS);
      expect(mostWithin(times, 1_000)).toBeLessThanOrEqual(
        processes * (RENEWALS_PER_SECOND + BURST),
      );
    });
  });
}

/** Sessions of one person who stays signed in at the IdP; the browser forgets each, so that none replaces another. */
async function signInMany(
  deployment: RenewingDeployment,
  count: number,
): Promise<readonly string[]> {
  const { hostname } = new URL(deployment.publicUrl);
  const browser = new Browser();
  const cookies: string[] = [];
  while (cookies.length < count) {
    cookies.push(await deployment.signIn(browser));
    browser.clearCookies(hostname);
  }
  return cookies;
}

/** The most of some moments that any span of so many milliseconds holds. */
function mostWithin(moments: readonly number[], spanMs: number): number {
  const sorted = moments.toSorted((a, b) => a - b);
  const counts = sorted.map(
    (from, index) => sorted.slice(index).filter((at) => at < from + spanMs).length,
  );
  return Math.max(0, ...counts);
}

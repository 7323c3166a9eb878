/**
 * Suite: a session that comes back after its confirmation ran out is confirmed before it is admitted; one
 * that is in steady use waits for nothing.
 *
 * @module
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import type { DeploymentUnderTest } from './deployment.ts';
import { type RenewingDeployment, startRenewingDeployment } from './renewing-deployment.ts';

const MINUTE_MS = 60_000;
/** Of the clock: beyond the default `revalidateAfter` of ten minutes, and within the `renewalGrace` of five. */
const QUIET_MS = 11 * MINUTE_MS;
const REQUESTS = 200;
/** What a request waits at most, and what it takes beside that on a busy machine. */
const WAIT_MS = 2_000;
const BUSY_MS = 4_000;

/** Registers the suite. */
export function testQuiet(under: DeploymentUnderTest): void {
  describe(`A quiet session that comes back (${under.name})`, () => {
    let deployment: RenewingDeployment;
    let refreshesBefore = 0;
    beforeAll(async () => {
      deployment = await startRenewingDeployment(under);
    });
    beforeEach(() => {
      refreshesBefore = deployment.idp.seenRefreshes().length;
    });
    afterAll(() => deployment.stop());

    const refreshes = () => deployment.idp.seenRefreshes().length - refreshesBefore;
    const all = (verdict: string) => deployment.indexes.map(() => verdict);
    /** Signed in, and remembered by every process. */
    const signIn = async () => {
      const cookie = await deployment.signIn(new Browser());
      expect(await deployment.verdicts(cookie)).toEqual(all('200'));
      return cookie;
    };
    const statuses = async (cookie: string) =>
      new Set((await deployment.askAtOnce(cookie, REQUESTS).heads).map(({ status }) => status));

    it('is refused at once by every process when the IdP has shut the person out', async () => {
      const cookie = await signIn();
      await deployment.idp.revoke('ada');
      await deployment.clock.advance(QUIET_MS);
      expect(await deployment.verdicts(cookie)).toEqual(all('401 renewal_refused'));
      expect(refreshes()).toBe(1);
    });

    it(`is refused to all of ${REQUESTS} requests at once when the IdP has shut the person out: one refresh`, async () => {
      const cookie = await signIn();
      await deployment.idp.revoke('ada');
      await deployment.clock.advance(QUIET_MS);
      expect(await statuses(cookie)).toEqual(new Set([401]));
      expect(refreshes()).toBe(1);
    });

    it(`is admitted to all of ${REQUESTS} requests at once when the IdP stands by it: one refresh`, async () => {
      const cookie = await signIn();
      await deployment.clock.advance(QUIET_MS);
      expect(await statuses(cookie)).toEqual(new Set([200]));
      expect(refreshes()).toBe(1);
      expect(await deployment.verdicts(cookie)).toEqual(all('200'));
      expect(refreshes()).toBe(1);
    });

    it('is admitted after two seconds when the IdP does not answer, and then without a wait', async () => {
      const cookie = await signIn();
      await deployment.clock.advance(QUIET_MS);
      const gate = deployment.idp.refreshes.hold();
      const asked = performance.now();
      expect(await statuses(cookie)).toEqual(new Set([200]));
      const waited = performance.now() - asked;
      // A timer may fire up to a millisecond early.
      expect(waited).toBeGreaterThanOrEqual(WAIT_MS - 1);
      expect(waited).toBeLessThan(WAIT_MS + BUSY_MS);
      const again = performance.now();
      for (let count = 0; count < 3; count += 1)
        expect(await deployment.verdicts(cookie)).toEqual(all('200'));
      // Nine requests, none of which waited.
      expect(performance.now() - again).toBeLessThan(3 * WAIT_MS);
      const renewed = deployment.renewals() + 1;
      gate.open();
      deployment.idp.refreshes.pass();
      await deployment.renewed(renewed);
      expect(refreshes()).toBe(1);
    });

    it('is admitted while the IdP is down, as one in steady use is all along, and both are renewed when it is back', async () => {
      const [quiet, steady] = [await signIn(), await signIn()];
      await deployment.idp.goDown();
      const asked = performance.now();
      await deployment.clock.advance(5 * MINUTE_MS);
      for (let minute = 6; minute <= 13; minute += 1) {
        await deployment.clock.advance(MINUTE_MS);
        expect(await deployment.verdicts(steady), `minute ${minute}`).toEqual(all('200'));
      }
      expect(await deployment.verdicts(quiet)).toEqual(all('200'));
      // Twenty-seven requests: one for each process and session may have waited.
      expect(performance.now() - asked).toBeLessThan(2 * 3 * WAIT_MS + 2 * BUSY_MS);
      const renewed = deployment.renewals() + 2;
      await deployment.idp.comeUp();
      await deployment.clock.advance(MINUTE_MS);
      for (const cookie of [quiet, steady])
        expect(await deployment.verdicts(cookie)).toEqual(all('200'));
      await deployment.renewed(renewed);
    });

    it('in steady use is renewed behind a request, and is never refused', async () => {
      const cookie = await signIn();
      const gate = deployment.idp.refreshes.hold();
      const asked = performance.now();
      let minutes = 0;
      while (deployment.log('session_renewing').length === 0 || refreshes() === 0) {
        await deployment.clock.advance(MINUTE_MS / 2);
        minutes += 0.5;
        // The answer is held back: what is admitted now was not waited for.
        expect(await deployment.verdicts(cookie), `minute ${minutes}`).toEqual(all('200'));
        expect(minutes).toBeLessThan(10);
      }
      expect(performance.now() - asked).toBeLessThan(3 * BUSY_MS);
      const renewed = deployment.renewals() + 1;
      gate.open();
      deployment.idp.refreshes.pass();
      await deployment.renewed(renewed);
      expect(refreshes()).toBe(1);
    });
  });
}

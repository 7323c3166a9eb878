/**
 * Suite: however many requests ask at once, a session is renewed once, and it goes on.
 *
 * @module
 */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import type { Sending } from '../wire/many.ts';
import type { DeploymentUnderTest } from './deployment.ts';
import { type RenewingDeployment, startRenewingDeployment } from './renewing-deployment.ts';

const REQUESTS = 1_000;
/** Renewals one after the other, with the cookie of the first day. */
const ROUNDS = 3;

/** Registers the suite. */
export function testStorm(under: DeploymentUnderTest): void {
  describe(`${REQUESTS} requests of one session at once (${under.name})`, () => {
    let deployment: RenewingDeployment;
    let refreshesBefore = 0;
    beforeAll(async () => {
      deployment = await startRenewingDeployment(under);
    });
    beforeEach(() => {
      refreshesBefore = deployment.idp.seenRefreshes().length;
    });
    afterEach(() => deployment.idp.refreshes.pass());
    afterAll(() => deployment.stop());

    const refreshes = () => deployment.idp.seenRefreshes().length - refreshesBefore;

    /** Counts the answers by status. The cookie never changes: an answer may only send it again. */
    async function count(cookie: string, sending: Sending): Promise<ReadonlyMap<number, number>> {
      const answers = await sending.heads;
      const set = answers.flatMap(({ setCookies }) => setCookies);
      expect(set.filter((line) => !line.startsWith(`${cookie};`))).toEqual([]);
      const counts = new Map<number, number>();
      for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
      return counts;
    }

    const storm = (cookie: string, times = REQUESTS) =>
      count(cookie, deployment.askAtOnce(cookie, times));

    /** All requests are under way, and every process has taken those that arrived before this, when the IdP answers. */
    async function stormThatWaits(cookie: string): Promise<ReadonlyMap<number, number>> {
      const gate = deployment.idp.refreshes.hold();
      const sending = deployment.askAtOnce(cookie, REQUESTS);
      await sending.sent;
      await gate.holds(1);
      await deployment.verdicts('core_session=none');
      expect(sending.answered()).toBe(0);
      gate.open();
      return count(cookie, sending);
    }

    it('due for renewal: exactly 1 refresh, every request admitted, the session goes on, for several renewals with every Set-Cookie dropped', async () => {
      const cookie = await deployment.signIn(new Browser());
      for (let round = 1; round <= ROUNDS; round += 1) {
        await deployment.untilDue();
        const renewedBefore = deployment.renewals();
        // The IdP answers when all of them have been admitted.
        const gate = deployment.idp.refreshes.hold();
        expect(await storm(cookie)).toEqual(new Map([[200, REQUESTS]]));
        await gate.holds(1);
        gate.open();
        await deployment.renewed(renewedBefore + 1);
        // Those who have not heard of the renewal yet send none of their own.
        expect(await storm(cookie, 100)).toEqual(new Map([[200, 100]]));
        expect(refreshes()).toBe(round);
        expect(deployment.renewals()).toBe(renewedBefore + 1);
      }
      expect(deployment.endings()).toEqual([]);
    });

    it('overdue: all wait for exactly 1 refresh, every request admitted, the session goes on', async () => {
      const cookie = await deployment.signIn(new Browser());
      await deployment.untilOverdue();
      expect(await stormThatWaits(cookie)).toEqual(new Map([[200, REQUESTS]]));
      expect(refreshes()).toBe(1);
      expect(deployment.endings()).toEqual([]);
    });

    it('not due: no refresh, every request admitted', async () => {
      const cookie = await deployment.signIn(new Browser());
      await deployment.clock.advance(6 * 60_000);
      expect(await storm(cookie)).toEqual(new Map([[200, REQUESTS]]));
      expect(refreshes()).toBe(0);
    });

    it('overdue, and the IdP has shut the person out: exactly 1 refresh, every request 401, renewal_refused', async () => {
      const cookie = await deployment.signIn(new Browser());
      await deployment.idp.revoke('ada');
      await deployment.untilOverdue();
      expect(await stormThatWaits(cookie)).toEqual(new Map([[401, REQUESTS]]));
      expect(new Set(await deployment.verdicts(cookie))).toEqual(new Set(['401 renewal_refused']));
      expect(refreshes()).toBe(1);
      expect(deployment.endings()).toEqual(['renewal_refused']);
    });
  });
}

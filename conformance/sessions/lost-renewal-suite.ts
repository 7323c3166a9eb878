/**
 * Suite: a process that dies while it renews a session ends no session, unless the IdP's answer is lost
 * with it and the IdP does not take the token again; then that one session ends, with the reason.
 *
 * @module
 */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import type { Gate } from '../wire/refresh-control.ts';
import { PATIENCE } from '../wire/workers.ts';
import type { DeploymentUnderTest } from './deployment.ts';
import {
  LEEWAY_SECONDS,
  type RenewingDeployment,
  startRenewingDeployment,
} from './renewing-deployment.ts';

/** A lease that is not prolonged ends so long after the request has left; the next holder then looks twice. */
const LEASE_MS = 20_000;
/** After this the IdP takes a token that was used no more, and the lease has ended, too. */
const LATE_MS = LEEWAY_SECONDS * 1_000 + 1_000;
/** Where that time cannot be let pass at once, it has to pass. */
const TAKE_OVER = { timeout: 45_000, interval: 50 };
const HOLDER = 1;
const OTHER = 2;
const ALL_ADMITTED = ['200', '200', '200'];

/** Registers the suite. */
export function testLostRenewal(under: DeploymentUnderTest): void {
  /** A session whose renewal is held by {@link HOLDER} at the IdP, by a closed gate. */
  async function holdRenewal(
    deployment: RenewingDeployment,
    close: 'hold' | 'holdAnswers',
  ): Promise<{ readonly cookie: string; readonly gate: Gate; readonly browser: Browser }> {
    const browser = new Browser();
    const cookie = await deployment.signIn(browser);
    await deployment.untilDue();
    const gate = deployment.idp.refreshes[close]();
    expect((await deployment.me(HOLDER, cookie)).status).toBe(200);
    await gate.holds(1);
    return { cookie, gate, browser };
  }

  /** What the IdP itself answered to the refreshes since. */
  const answersSince = ({ idp }: RenewingDeployment, since: number) =>
    idp
      .seenRefreshes()
      .slice(since)
      .map(({ idpStatus }) => idpStatus);

  describe(`The process that renews a session is killed (${under.name})`, () => {
    let deployment: RenewingDeployment;
    beforeAll(async () => {
      deployment = await startRenewingDeployment(under);
    });
    afterEach(() => deployment.idp.refreshes.pass());
    afterAll(() => deployment.stop());

    it('before its request reached the IdP: another one takes over after the lease, exactly 1 refresh is processed, the session goes on', async () => {
      const since = deployment.idp.seenRefreshes().length;
      const renewals = deployment.renewals();
      const { cookie, gate } = await holdRenewal(deployment, 'hold');
      await deployment.replace(HOLDER);
      // Its lease stands: no other process sends, and no request waits.
      for (let count = 0; count < 10; count += 1)
        expect((await deployment.me(OTHER, cookie)).status).toBe(200);
      expect(answersSince(deployment, since)).toEqual([undefined]);
      await deployment.elapse(LEASE_MS);
      expect((await deployment.me(OTHER, cookie)).status).toBe(200);
      await gate.holds(2);
      gate.open();
      await deployment.renewed(renewals + 1);
      expect(answersSince(deployment, since)).toEqual([undefined, 200]);
      expect(await deployment.verdicts(cookie)).toEqual(ALL_ADMITTED);
      expect(deployment.endings()).toEqual([]);
    });

    it('after the IdP used up the token: that session ends with renewal_lost, its browser starts one new sign-in, no other session is touched', async () => {
      const elsewhere = await deployment.signIn(new Browser());
      const grace = await deployment.signIn(new Browser(), 'grace');
      const { cookie, gate, browser } = await holdRenewal(deployment, 'holdAnswers');
      const since = deployment.idp.seenRefreshes().length - 1;
      await deployment.replace(HOLDER);
      await deployment.clock.advance(LATE_MS);
      deployment.idp.refreshes.pass();
      gate.open();
      // Still admitted: the renewal is ahead of need.
      expect((await deployment.me(OTHER, cookie)).status).toBe(200);
      await expect.poll(() => deployment.endings(), TAKE_OVER).toEqual(['renewal_lost']);
      await expect.poll(() => answersSince(deployment, since), PATIENCE).toEqual([200, 400]);
      await expect
        .poll(() => deployment.verdicts(cookie), PATIENCE)
        .toEqual(['401 renewal_lost', '401 renewal_lost', '401 renewal_lost']);

      const started = deployment.log('sign_in_started').length;
      const login = await browser.step(`${deployment.publicUrl}/login`);
      expect(login.status).toBe(302);
      expect(login.location).toContain(`${deployment.idp.issuer}/idp/authorize?`);
      // What a process writes arrives here a moment after its answer.
      await expect
        .poll(() => deployment.log('sign_in_started').slice(started), PATIENCE)
        .toEqual([expect.objectContaining({ reason: 'renewal_lost' })]);
      const next = await deployment.signIn(browser);
      expect(next).not.toBe(cookie);
      expect(await deployment.verdicts(next)).toEqual(ALL_ADMITTED);

      // Due by now, and renewed: their refresh tokens work.
      for (const other of [elsewhere, grace]) {
        const renewals = deployment.renewals();
        expect((await deployment.me(OTHER, other)).status).toBe(200);
        await deployment.renewed(renewals + 1);
        expect(await deployment.verdicts(other)).toEqual(ALL_ADMITTED);
      }
      expect(deployment.endings()).toEqual(['renewal_lost']);
    });

    it('after the IdP used up the token, within its leeway: another one takes over after the lease and the session goes on', async () => {
      const since = deployment.idp.seenRefreshes().length;
      const [renewals, endings] = [deployment.renewals(), deployment.endings()];
      const { cookie, gate } = await holdRenewal(deployment, 'holdAnswers');
      await deployment.replace(HOLDER);
      await deployment.elapse(LEASE_MS);
      expect((await deployment.me(OTHER, cookie)).status).toBe(200);
      await gate.holds(2);
      gate.open();
      await deployment.renewed(renewals + 1);
      expect(answersSince(deployment, since)).toEqual([200, 200]);
      // With the token that counts now.
      await deployment.untilDue();
      expect((await deployment.me(HOLDER, cookie)).status).toBe(200);
      await deployment.renewed(renewals + 2);
      expect(await deployment.verdicts(cookie)).toEqual(ALL_ADMITTED);
      expect(deployment.endings()).toEqual(endings);
    });
  });
}

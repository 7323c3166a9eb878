/**
 * Suite: an identity provider that stands still, and takes each refresh token once, ends no session. It
 * carries out what was sent before when it goes on, so no token may have been sent a second time.
 *
 * @module
 */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import type { Waking } from '../wire/refresh-control.ts';
import { PATIENCE } from '../wire/workers.ts';
import { type DeploymentUnderTest, statusOf } from './deployment.ts';
import { type RenewingDeployment, startRenewingDeployment } from './renewing-deployment.ts';

const PEOPLE = 20;
const STEP_SECONDS = 30;
const WAKINGS: readonly Waking[] = ['carries out', 'answers twice', 'drops'];
const CASES = [30, 90, 300].flatMap((seconds) =>
  WAKINGS.map((waking) => [seconds, waking] as const),
);
/** Renewals that were put off, and wait to take over, have their turn again after a few of these. */
const AGAIN_MS = 3_000;
/** And surely after this. */
const PUT_OFF_MS = 10_000;
/** At the due time eight minutes have passed; they count no longer after fifteen. */
const TO_OVERDUE_SECONDS = 7 * 60 + STEP_SECONDS;

/** Registers the suite. */
export function testFrozenIdp(under: DeploymentUnderTest): void {
  describe(`The IdP stands still (${under.name}, no leeway at the IdP)`, () => {
    let deployment: RenewingDeployment;
    let cookies: readonly string[];
    beforeAll(async () => {
      deployment = await startRenewingDeployment(under, { movesTimers: true, leewaySeconds: 0 });
      const signedIn: string[] = [];
      while (signedIn.length < PEOPLE) signedIn.push(await deployment.signIn(new Browser()));
      cookies = signedIn;
    });
    afterEach(() => deployment.idp.refreshes.pass());
    afterAll(() => deployment.stop());

    /** Every session once; which process takes it differs from turn to turn. */
    const askAll = async (turn: number): Promise<readonly string[]> => {
      const answers = await Promise.all(
        cookies.map((cookie, index) => deployment.meAnywhere(index + turn, cookie)),
      );
      return [...new Set(answers.map(statusOf))];
    };
    /** Lets time pass while all sessions go on asking. */
    async function stayActive(seconds: number): Promise<void> {
      for (let passed = 0; passed < seconds; passed += STEP_SECONDS) {
        await deployment.clock.advance(STEP_SECONDS * 1_000);
        expect(await askAll(passed / STEP_SECONDS)).toEqual(['200']);
      }
    }
    const tokensSince = (since: number) =>
      deployment.idp
        .seenRefreshes()
        .slice(since)
        .map(({ form }) => form.get('refresh_token'));
    const statusesSince = (since: number) =>
      deployment.idp
        .seenRefreshes()
        .slice(since)
        .map(({ idpStatus }) => idpStatus);

    it.each(CASES)(
      `%i s, and then %s: of ${PEOPLE} active people 0 are signed out`,
      async (seconds, waking) => {
        const since = deployment.idp.seenRefreshes().length;
        const renewals = deployment.renewals();
        await deployment.untilDue();
        const gate = deployment.idp.refreshes.freeze(waking);
        expect(await askAll(0)).toEqual(['200']);
        await gate.holds(PEOPLE);
        await stayActive(seconds);
        // Each may have arrived, and none is sent again as long as its answer can come.
        expect(tokensSince(since)).toHaveLength(PEOPLE);

        deployment.idp.refreshes.pass();
        if (waking === 'drops') {
          // The connections ended without an answer: each is sent once more, when it is its turn.
          let turn = 0;
          const askAgain = async () => {
            await deployment.clock.advance(AGAIN_MS);
            turn += 1;
            await askAll(turn);
            return deployment.renewals();
          };
          const often = { ...PATIENCE, interval: 100 };
          await expect.poll(askAgain, often).toBeGreaterThanOrEqual(renewals + PEOPLE);
        }
        await deployment.renewed(renewals + PEOPLE);
        const tokens = tokensSince(since);
        const sent = waking === 'drops' ? 2 * PEOPLE : PEOPLE;
        expect([tokens.length, new Set(tokens).size]).toEqual([sent, PEOPLE]);
        expect(statusesSince(since).filter((status) => status !== undefined)).toEqual(
          Array.from({ length: PEOPLE }, () => 200),
        );
        expect(await askAll(0)).toEqual(['200']);
        expect(deployment.endings()).toEqual([]);
      },
    );

    it('until sessions count no longer: they are undecided, at once, and go on with the late answer', async () => {
      const renewals = deployment.renewals();
      await deployment.untilDue();
      const gate = deployment.idp.refreshes.freeze('carries out');
      expect(await askAll(0)).toEqual(['200']);
      await gate.holds(PEOPLE);
      const linesBefore = deployment.log('renewal_unanswered').length;
      for (let passed = 0; passed < TO_OVERDUE_SECONDS; passed += STEP_SECONDS)
        await deployment.clock.advance(STEP_SECONDS * 1_000);
      const asked = performance.now();
      const holders = await Promise.all(
        cookies.map((cookie, index) => deployment.meAnywhere(index, cookie)),
      );
      expect([...new Set(holders.map(statusOf))]).toEqual(['503 renewal_unavailable']);
      for (const { headers } of holders)
        expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      // Not after the time that a request waits for a renewal that may still be quick.
      expect(performance.now() - asked).toBeLessThan(5_000);
      // One line for each says since when.
      expect(deployment.log('renewal_unanswered').slice(linesBefore)).toHaveLength(PEOPLE);
      gate.open();
      await deployment.renewed(renewals + PEOPLE);
      expect(await askAll(0)).toEqual(['200']);
      expect(deployment.endings()).toEqual([]);
    });

    it('for 90 s, and then refuses: that is an answer, and those sessions alone end, with renewal_refused', async () => {
      const grace = await deployment.signIn(new Browser(), 'grace');
      const renewals = deployment.renewals();
      await deployment.untilDue();
      const gate = deployment.idp.refreshes.freeze('carries out');
      expect((await deployment.me(0, grace)).status).toBe(200);
      expect(await askAll(0)).toEqual(['200']);
      await gate.holds(PEOPLE + 1);
      await stayActive(90);
      await deployment.idp.revoke('grace');
      gate.open();
      await deployment.renewed(renewals + PEOPLE);
      await expect.poll(() => deployment.endings(), PATIENCE).toEqual(['renewal_refused']);
      expect(statusOf(await deployment.me(0, grace))).toBe('401 renewal_refused');
      expect(await askAll(0)).toEqual(['200']);
    });

    it('and cannot even be connected to: nothing has left, so that a refusal afterwards is renewal_refused', async () => {
      const grace = await deployment.signIn(new Browser(), 'grace');
      const endings = deployment.endings().length;
      await deployment.untilDue();
      await deployment.idp.goDown();
      const failures = deployment.log('renewal_failed').length;
      expect((await deployment.me(0, grace)).status).toBe(200);
      await expect
        .poll(() => deployment.log('renewal_failed').length, PATIENCE)
        .toBeGreaterThan(failures);
      await deployment.idp.comeUp();
      await deployment.idp.revoke('grace');
      await deployment.clock.advance(PUT_OFF_MS);
      expect((await deployment.me(0, grace)).status).toBe(200);
      await expect
        .poll(() => deployment.endings().slice(endings), PATIENCE)
        .toEqual(['renewal_refused']);
    });
  });
}

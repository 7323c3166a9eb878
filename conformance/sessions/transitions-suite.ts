/**
 * Suite: the states of a session: each transition is one audit event, whichever process it happens in.
 *
 * @module
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { PATIENCE } from '../wire/workers.ts';
import type { DeploymentUnderTest } from './deployment.ts';
import { type RenewingDeployment, startRenewingDeployment } from './renewing-deployment.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const EVENTS = [
  'sign_in_started',
  'session_begun',
  'session_renewing',
  'session_renewed',
  'session_ended',
];

/** The fixed fields of every line; `null` stands for an unknown value. */
const LINE = {
  level: 'audit',
  time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
  reason: expect.stringMatching(/^[a-z_]+$/) as string,
};
const SIGN_IN_LINE = { ...LINE, issuer: null, subject: null, session: null };
const SESSION_LINE = { ...LINE, session: expect.stringMatching(/^[\w-]{8}$/) as string };
const REQUEST = {
  address: expect.stringMatching(/^[\d.:a-f]+$/) as string,
  request_id: expect.stringMatching(/^[\w.-]{8,64}$/) as string,
};

/** Registers the suite. */
export function testTransitions(under: DeploymentUnderTest): void {
  describe(`Every transition of a session is one audit event (${under.name})`, () => {
    let deployment: RenewingDeployment;
    let reported = 0;
    beforeAll(async () => {
      deployment = await startRenewingDeployment(under);
    });
    afterAll(() => deployment.stop());

    const all = () =>
      EVENTS.flatMap((event) => deployment.log(event)).toSorted((one, other) =>
        String(one['time']).localeCompare(String(other['time'])),
      );
    /** Events since the last look, as `event` or `event reason`; only those of a session keep its id. */
    const news = () => {
      const lines = all().slice(reported);
      reported += lines.length;
      return lines.map((line) => {
        const { event, reason } = line;
        expect(line).toMatchObject(event === 'sign_in_started' ? SIGN_IN_LINE : SESSION_LINE);
        // A line names the person whenever its process can decrypt the record: not when it is swept.
        const isSwept = reason === 'session_expired';
        if (event !== 'sign_in_started') expect(typeof line['subject'] === 'string').toBe(!isSwept);
        if (!isSwept) expect(line).toMatchObject(REQUEST);
        return [event, reason].filter((each) => typeof each === 'string').join(' ');
      });
    };
    /** What a process writes arrives here a moment after its answer. */
    const expectNews = async (expected: readonly string[]) => {
      await expect
        .poll(() => all().length - reported, PATIENCE)
        .toBeGreaterThanOrEqual(expected.length);
      expect(news()).toEqual(expected);
    };
    const signIn = async (browser: Browser) => {
      const cookie = await deployment.signIn(browser);
      await expectNews(['sign_in_started no_credential', 'session_begun signed_in']);
      return cookie;
    };
    const signOut = (browser: Browser) =>
      browser.step(`${deployment.publicUrl}/logout`, {
        form: {},
        headers: { origin: deployment.publicUrl },
      });

    it('absent, signing in, active, signed out', async () => {
      const browser = new Browser();
      const cookie = await signIn(browser);
      for (const index of deployment.indexes) await deployment.me(index, cookie);
      // Being used is no transition.
      await expectNews([]);
      await signOut(browser);
      await expectNews(['session_ended signed_out']);
      for (const index of deployment.indexes) await deployment.me(index, cookie);
      await signOut(browser);
      await expectNews([]);
    });

    it('active, revoked by its person, who ends them all', async () => {
      const browser = new Browser();
      await signIn(browser);
      await signIn(new Browser());
      await browser.step(`${deployment.publicUrl}/auth/account`, {
        form: { end: 'all' },
        headers: { origin: deployment.publicUrl },
      });
      await expectNews(['session_ended session_revoked', 'session_ended session_revoked']);
      const [one, other] = deployment.log('session_ended').slice(-2);
      expect(one?.['session']).not.toBe(other?.['session']);
    });

    it('active, revoked because the identity provider says so', async () => {
      const browser = new Browser();
      await signIn(browser);
      const question = await browser.visit(`${deployment.idp.issuer}/idp/logout`);
      await browser.submit(question, { logout: 'yes' });
      await expectNews(['session_ended session_revoked']);
    });

    it('is reported once, by the process that makes it: not by those that learn of an end, nor by one that starts later', async () => {
      const browser = new Browser();
      const cookie = await signIn(browser);
      // Remembered by all of them.
      expect(await deployment.verdicts(cookie)).toEqual(['200', '200', '200']);
      await signOut(browser);
      const signedOut = deployment.indexes.map(() => '401 signed_out');
      await expect.poll(() => deployment.verdicts(cookie), PATIENCE).toEqual(signedOut);
      await deployment.replace(1);
      expect(await deployment.verdicts(cookie)).toEqual(signedOut);
      await expectNews(['session_ended signed_out']);
    });

    it('has no event when a session is used, polled or shown at the account page, or /login sends its person on', async () => {
      const browser = new Browser();
      const cookie = await signIn(browser);
      const { host } = new URL(deployment.publicUrl);
      // Uses that are noted, and no renewal yet.
      for (let minutes = 2; minutes <= 6; minutes += 2) {
        await deployment.clock.advance(2 * 60_000);
        expect(await deployment.verdicts(cookie)).toEqual(['200', '200', '200']);
        for (const index of deployment.indexes) {
          const polled = await deployment.through(index, (url) =>
            exchange(`${url}/auth/session`, { headers: { host, cookie } }),
          );
          expect(JSON.parse(polled.body)).toMatchObject({ authenticated: true });
        }
      }
      const seen = await Promise.all(
        ['/auth/account', '/login?redirect_url=/x', '/auth/signed-in'].map((path) =>
          browser.step(deployment.publicUrl + path),
        ),
      );
      expect(seen.map(({ status, location }) => [status, location])).toEqual([
        [200, undefined],
        [302, `${deployment.publicUrl}/x`],
        [200, undefined],
      ]);
      await expectNews([]);
    });

    it('active, renewing, active again: once, whichever processes are asked', async () => {
      const cookie = await signIn(new Browser());
      await deployment.untilDue();
      await Promise.all(deployment.indexes.map((index) => deployment.me(index, cookie)));
      await deployment.renewed(deployment.renewals() || 1);
      for (const index of deployment.indexes) await deployment.me(index, cookie);
      await expectNews(['session_renewing due', 'session_renewed confirmed']);
      const ids = new Set(
        all()
          .slice(-2)
          .map(({ session }) => session),
      );
      expect(ids.size).toBe(1);
    });

    it('active, replaced by a new sign-in of the same browser', async () => {
      const browser = new Browser();
      await signIn(browser);
      await deployment.idp.signIn(browser, `${deployment.publicUrl}/login?prompt=login`, 'ada');
      expect(news().toSorted((one, other) => one.localeCompare(other))).toEqual([
        'session_begun signed_in',
        'session_ended session_replaced',
        'sign_in_started asked_for',
      ]);
    });

    it('renewing, refused by the identity provider', async () => {
      const cookie = await signIn(new Browser());
      await deployment.idp.revoke('ada');
      await deployment.untilOverdue();
      expect(await deployment.verdicts(cookie)).toEqual(
        deployment.indexes.map(() => '401 renewal_refused'),
      );
      await expectNews(['session_renewing due', 'session_ended renewal_refused']);
    });

    it('active, expired: reported by the process that removes it', async () => {
      const cookie = await signIn(new Browser());
      const { session } = deployment.log('session_begun').at(-1) ?? {};
      await deployment.clock.advance(8 * DAY_MS);
      // Any of the processes may remove it at any moment, after which it is unknown.
      for (const verdict of await deployment.verdicts(cookie))
        expect(verdict).toMatch(/^401 session_(expired|unknown)$/);
      await Promise.all(deployment.indexes.map((index) => deployment.replace(index)));
      await expect
        .poll(() => deployment.log('session_ended').filter((line) => line['session'] === session), {
          ...PATIENCE,
          timeout: 90_000,
        })
        .toEqual([expect.objectContaining({ reason: 'session_expired' })]);
    }, 120_000);
  });
}

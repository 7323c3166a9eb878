/**
 * Suite: what was ended in one process is refused there at once, and in every other within a second,
 * also where the session was remembered, and also while it was being renewed.
 *
 * @module
 */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { forgeLogoutToken, LOGOUT_PATH } from '../wire/logout-token.ts';
import { PATIENCE } from '../wire/workers.ts';
import { type AttackedDeployment, startAttackedDeployment } from './attacked-deployment.ts';
import type { Deployment, DeploymentUnderTest } from './deployment.ts';
import { type KeptConnection, keepConnection } from './kept-connection.ts';
import { type RenewingDeployment, startRenewingDeployment } from './renewing-deployment.ts';
import { askedAfter, type Watch, watchSession } from './watch.ts';

const WITHIN_MS = 1_000;
/** Ends the sessions. */
const FIRST = 0;
/** Learn of it. */
const OTHERS = [1, 2];
/** Answers that each process gives before and after. */
const ENOUGH = 20;

/** Sessions that are to end, by what, and those that are to stay. */
interface Ending {
  readonly ended: readonly string[];
  readonly kept: readonly string[];
  /** Resolves when it is acknowledged. */
  end(first: KeptConnection): Promise<void>;
  /** Whether {@link FIRST} is known to be the process that ends them; `true` when absent. */
  readonly isEndedByFirst?: boolean;
  readonly reason: string;
}

async function expectEndsEverywhere(
  deployment: Deployment,
  { ended, kept, end, isEndedByFirst = true, reason }: Ending,
): Promise<void> {
  const { host } = new URL(deployment.publicUrl);
  const first = await deployment.through(FIRST, keepConnection);
  const watch = async (cookie: string): Promise<Watch[]> => {
    const watches: Watch[] = [];
    for (const index of OTHERS)
      watches.push(await deployment.through(index, (url) => watchSession(url, cookie, host)));
    return watches;
  };
  const watchesEnded = await inTurn(ended, watch);
  const watchesKept = await inTurn(kept, watch);
  const all = [...watchesEnded, ...watchesKept];
  const askFirst = (cookie: string) => first.send('/me', { headers: { host, cookie } });
  for (const cookie of ended) {
    expect((await askFirst(cookie)).status).toBe(200);
    expect((await askFirst(cookie)).status).toBe(200);
  }
  // Remembered by now, by all of them.
  await Promise.all(all.map((each) => each.more(ENOUGH)));

  await end(first);
  const acknowledgedAt = performance.now();
  for (const cookie of isEndedByFirst ? ended : []) {
    const answer = await askFirst(cookie);
    expect([answer.status, answer.body]).toEqual([401, expect.stringContaining(`"${reason}"`)]);
  }
  const refusals = ({ answers }: Watch) => answers.filter(({ status }) => status === 401);
  await expect
    .poll(() => watchesEnded.every((each) => refusals(each).length >= ENOUGH), PATIENCE)
    .toBe(true);
  await Promise.all(all.map((each) => each.stop()));
  first.close();

  for (const { answers } of watchesEnded) {
    const admitted = answers.filter(({ status }) => status === 200);
    expect(admitted.length).toBeGreaterThan(0);
    const later = askedAfter(answers, acknowledgedAt + WITHIN_MS);
    expect(later.filter(({ status }) => status === 200)).toEqual([]);
    // Once refused, refused for good.
    const statuses = answers.map(({ status }) => status);
    expect(statuses.slice(admitted.length).every((status) => status === 401)).toBe(true);
    expect(answers.at(-1)?.body).toContain(`"${reason}"`);
  }
  for (const { answers } of watchesKept)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
}

async function inTurn<T>(
  cookies: readonly string[],
  work: (cookie: string) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (const cookie of cookies) all.push(...(await work(cookie)));
  return all;
}

/** Registers the suite. */
export function testRevocation(under: DeploymentUnderTest): void {
  describe(`A session that one process ends (${under.name}) is refused there at once and elsewhere within 1 s, remembered or not`, () => {
    let deployment: RenewingDeployment;
    let own: { readonly host: string; readonly origin: string };
    beforeAll(async () => {
      deployment = await startRenewingDeployment(under);
      const { host, origin } = new URL(deployment.publicUrl);
      own = { host, origin };
    });
    afterEach(() => deployment.idp.refreshes.pass());
    afterAll(() => deployment.stop());

    const signIn = async (login: 'ada' | 'grace' = 'ada') => {
      const browser = new Browser();
      return { browser, cookie: await deployment.signIn(browser, login) };
    };
    const post = async (
      first: KeptConnection,
      path: string,
      cookie: string,
      form: Readonly<Record<string, string>>,
    ) => {
      const headers = { ...own, cookie, 'sec-fetch-site': 'same-origin' };
      const answer = await first.send(path, { headers, form });
      expect(answer.status).toBe(303);
    };

    it('by its browser, on /logout; other sessions of the same person stay', async () => {
      const [{ cookie }, elsewhere, grace] = [
        await signIn(),
        await signIn(),
        await signIn('grace'),
      ];
      await expectEndsEverywhere(deployment, {
        ended: [cookie],
        kept: [elsewhere.cookie, grace.cookie],
        end: (first) => post(first, '/logout', cookie, {}),
        reason: 'signed_out',
      });
    });

    it('with all sessions of the person, on the account page; other people stay', async () => {
      const [one, two, grace] = [await signIn(), await signIn(), await signIn('grace')];
      await expectEndsEverywhere(deployment, {
        ended: [one.cookie, two.cookie],
        kept: [grace.cookie],
        end: (first) => post(first, '/auth/account', one.cookie, { end: 'all' }),
        reason: 'session_revoked',
      });
    });

    it('because the IdP says by back-channel that it has ended; other sessions of the same person stay', async () => {
      const [{ browser, cookie }, elsewhere] = [await signIn(), await signIn()];
      await expectEndsEverywhere(deployment, {
        ended: [cookie],
        kept: [elsewhere.cookie],
        async end() {
          const question = await browser.visit(`${deployment.idp.issuer}/idp/logout`);
          await browser.submit(question, { logout: 'yes' });
        },
        isEndedByFirst: under.hasWorkers !== true,
        reason: 'session_revoked',
      });
    });

    it('and does not come back with the renewal that was under way: its new refresh token is given back to the IdP', async () => {
      const { cookie } = await signIn();
      await deployment.untilDue();
      const renewals = deployment.renewals();
      const gate = deployment.idp.refreshes.holdAnswers();
      expect((await deployment.me(1, cookie)).status).toBe(200);
      await gate.holds(1);
      const revocationsBefore = deployment.idp.count('/idp/revoke');
      const first = await deployment.through(FIRST, keepConnection);
      await post(first, '/logout', cookie, {});
      first.close();
      expect(deployment.idp.count('/idp/revoke')).toBe(revocationsBefore + 1);
      gate.open();

      await expect
        .poll(() => deployment.idp.count('/idp/revoke'), PATIENCE)
        .toBe(revocationsBefore + 2);
      expect(await deployment.verdicts(cookie)).toEqual(
        deployment.indexes.map(() => '401 signed_out'),
      );
      expect(deployment.renewals()).toBe(renewals);
      const [ofSignOut, ofRenewal] = deployment.idp.requests
        .filter(({ path }) => path === '/idp/revoke')
        .slice(-2)
        .map(({ form }) => form.get('token') ?? '');
      const refreshed = deployment.idp.seenRefreshes().at(-1)?.form.get('refresh_token');
      expect(ofSignOut).toBe(refreshed);
      // The one that came with the answer; it was never sent before.
      expect(ofRenewal).toMatch(/^.{20,}$/);
      expect(ofRenewal).not.toBe(refreshed);
    });

    it('while the same renewal of a session that was not ended is written, and its token kept', async () => {
      const { cookie } = await signIn();
      await deployment.untilDue();
      const renewals = deployment.renewals();
      const revocations = deployment.idp.count('/idp/revoke');
      const gate = deployment.idp.refreshes.holdAnswers();
      expect((await deployment.me(1, cookie)).status).toBe(200);
      await gate.holds(1);
      gate.open();
      await deployment.renewed(renewals + 1);
      expect(await deployment.verdicts(cookie)).toEqual(deployment.indexes.map(() => '200'));
      expect(deployment.idp.count('/idp/revoke')).toBe(revocations);
    });
  });
}

/** Registers the part that needs an IdP which says what the test wants it to say. */
export function testRevocationBySubject(under: DeploymentUnderTest): void {
  describe(`All sessions of a person that the IdP ends by back-channel (${under.name})`, () => {
    let deployment: AttackedDeployment;
    beforeAll(async () => {
      deployment = await startAttackedDeployment(under);
    });
    afterAll(() => deployment.stop());

    it('are refused at once by the process that received the logout token and within 1 s by the others; other people stay', async () => {
      const signIn = (login: 'ada' | 'grace') => deployment.signIn(new Browser(), login);
      await expectEndsEverywhere(deployment, {
        ended: [await signIn('ada'), await signIn('ada')],
        kept: [await signIn('grace')],
        async end(first) {
          const token = await forgeLogoutToken(deployment.idp.attacker, { claims: { sub: 'ada' } });
          const answer = await first.send(LOGOUT_PATH, { form: { logout_token: token } });
          expect(answer.status).toBe(200);
        },
        reason: 'session_revoked',
      });
    });
  });
}

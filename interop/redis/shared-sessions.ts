/**
 * Processes that share their sessions in a Redis deployment, and the people who are signed in there.
 *
 * @module
 */

import { expect } from 'vitest';
import type { KeptAnswer } from '../../conformance/sessions/kept-connection.ts';
import { type Watch, watchSession } from '../../conformance/sessions/watch.ts';
import { Browser, NAVIGATION } from '../../conformance/wire/browser.ts';
import { exchange, type Received } from '../../conformance/wire/exchange.ts';
import { type Fleet, type FleetOptions, startFleet } from '../../conformance/wire/fleet.ts';
import { expectRefusedSoon } from '../../conformance/wire/refused-soon.ts';
import { type RotatingIdp, startRotatingIdp } from '../../conformance/wire/rotating-idp.ts';
import { beginsSession, SESSION_COOKIE } from '../../conformance/wire/sign-in.ts';

/** The running processes, with an IdP of their own. */
export interface SharedSessions extends Omit<Fleet, 'signIn'> {
  readonly idp: RotatingIdp;
  /** Signs a person in with a new browser; returns the `Cookie` header. */
  signIn(): Promise<string>;
  /** Tries to; the last answer, and whether any set a session cookie. */
  trySignIn(): Promise<{ readonly received: Received; readonly hasBegun: boolean }>;
  /** Signs out at one process, as a page of the platform does. */
  signOut(index: number, cookie: string): Promise<Received>;
  /** Asks one process about a session again and again; pauses for a moment when not said otherwise. */
  watch(index: number, cookie: string, pauseMs?: number): Promise<Watch>;
}

/** Several watches at once leave the machine time for what they watch. */
const PAUSE_MS = 40;

/** Starts them, two when not said otherwise. */
export async function startSharedSessions(
  options: Pick<FleetOptions, 'file'> & Partial<Pick<FleetOptions, 'processes'>>,
): Promise<SharedSessions> {
  const idp = await startRotatingIdp();
  const fleet = await startFleet({ processes: 2, idp, ...options }).catch(
    async (error: unknown) => {
      await idp.close();
      throw error;
    },
  );
  const { publicUrl, urls } = fleet;
  const { host } = new URL(publicUrl);
  return {
    ...fleet,
    idp,
    signIn: () => fleet.signIn(new Browser()),
    async trySignIn() {
      const browser = new Browser();
      const received = await idp.signIn(browser, `${publicUrl}/login`);
      return { received, hasBegun: browser.history.some(beginsSession) };
    },
    signOut: (index, cookie) =>
      exchange(`${urls[index]}/logout`, {
        method: 'POST',
        headers: { ...NAVIGATION, host, origin: publicUrl, cookie },
      }),
    watch: (index, cookie, pauseMs = PAUSE_MS) =>
      watchSession(urls[index] ?? '', cookie, host, pauseMs),
    async stop() {
      await fleet.stop();
      await idp.close();
    },
  };
}

/** Statuses that are none of those expected, each once. */
export function otherStatuses(
  answers: readonly KeptAnswer[],
  expected: readonly number[],
): readonly number[] {
  const seen = new Set(answers.map(({ status }) => status));
  return [...seen].filter((status) => !expected.includes(status));
}

/** What two processes answer to a session. */
export function statuses(shared: SharedSessions, cookie: string): Promise<readonly number[]> {
  return Promise.all([0, 1].map(async (index) => (await shared.me(index, cookie)).status));
}

/** In at one process, admitted by both, out at the other, refused by both; the other session stays. */
export async function expectWorks(shared: SharedSessions): Promise<void> {
  const [cookie, other] = [await shared.signIn(), await shared.signIn()];
  expect(await statuses(shared, cookie)).toEqual([200, 200]);
  expect(await statuses(shared, withOtherSecret(cookie))).toEqual([401, 401]);
  expect(isSignedOut(await shared.signOut(1, cookie))).toBe(true);
  expect((await shared.me(1, cookie)).status).toBe(401);
  await expectRefusedSoon(() => statuses(shared, cookie));
  expect(await statuses(shared, other)).toEqual([200, 200]);
}

/** Whether a sign-out was acknowledged: the browser forgets the session, and goes on. */
export function isSignedOut({ status, setCookies }: Received): boolean {
  return [200, 302, 303].includes(status) && setCookies.some(isForgetting);
}

/** Whether an answer makes the browser forget its session. */
export function forgetsSession({ setCookies }: Received): boolean {
  return setCookies.some(isForgetting);
}

/** The `Cookie` header of the same session with another secret. */
export function withOtherSecret(cookie: string): string {
  return cookie.replace(/\.(.)/, (_, first: string) => `.${first === 'A' ? 'B' : 'A'}`);
}

/** A `Cookie` header that names a session that never existed. */
export const UNKNOWN_COOKIE: string = `${SESSION_COOKIE}=AAAAAAAA.${'A'.repeat(43)}`;

function isForgetting(line: string): boolean {
  return line.startsWith(`${SESSION_COOKIE}=;`) && /;\s*Max-Age=0/i.test(line);
}

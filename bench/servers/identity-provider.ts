/**
 * The identity provider of the bench: both sides sign in at it, and both verify its tokens.
 *
 * @module
 */

import { type FakeIdp, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { Browser } from '../../conformance/wire/browser.ts';
import type { Ends } from '../process/ends.ts';

/** The web application's id, of either side. */
export const CLIENT_ID = 'web';

/** Longer than any case takes: no session is renewed or ends while it is measured. */
const ACCESS_TOKEN_SECONDS = 36_000;
const ADA = { name: 'Ada Lovelace', email: 'ada@example.test', email_verified: true };

/** Starts it in this process, off the servers' core. */
export async function startIdentityProvider(ends: Ends): Promise<FakeIdp> {
  const idp = await startFakeIdp(CLIENT_ID);
  ends.add(() => idp.close());
  return idp;
}

/**
 * Signs in as a browser does.
 *
 * @param login - Where a sign-in starts.
 * @param callback - Where the IdP sends the browser, without the query.
 *
 * @returns The Cookie header of the cookies with this name, which may stand in several pieces.
 */
export async function signIn(
  idp: FakeIdp,
  { login, callback, cookieName }: Readonly<Record<'login' | 'callback' | 'cookieName', string>>,
): Promise<string> {
  const browser = new Browser();
  const sent = await browser.step(login);
  if (sent.location === undefined)
    throw new Error(`no sign-in starts at ${login}: ${sent.status} ${sent.body.slice(0, 500)}`);
  const answer = idp.authorize(sent.location, {
    forge: (forgery) => idp.honest({ ...forgery, claims: { ...forgery.claims, ...ADA } }),
    userInfo: ADA,
    rotation: { accessTokenSeconds: ACCESS_TOKEN_SECONDS },
  });
  const received = await browser.step(`${callback}?${answer.toString()}`);
  const host = new URL(login).hostname;
  const pairs = browser
    .cookieNames(host)
    .filter((name) => name === cookieName || name.startsWith(`${cookieName}_`))
    .filter((name) => !name.endsWith('csrf'))
    .map((name) => `${name}=${browser.cookie(host, name)}`);
  if (pairs.length === 0)
    throw new Error(
      `the sign-in gave no session: ${received.status} ${received.body.slice(0, 500)}`,
    );
  return pairs.join('; ');
}

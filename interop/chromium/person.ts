/**
 * What a person has done before the part that a test watches in the browser: signed in, signed out everywhere.
 *
 * It happens by requests, which share the cookies of the visitor's tabs, and shows no page.
 *
 * @module
 */

import type { Page } from 'playwright-core';
import { Browser, NAVIGATION, readForm, readRefresh } from '../../conformance/wire/browser.ts';
import type { SharedPlane } from './shared-plane.ts';
import type { Visitor } from './visitor.ts';

/** Who has a password at the plane's IdP. */
export type Login = 'ada' | 'grace';

/**
 * Signs a visitor in at the plane and at its IdP.
 *
 * @throws When that does not end behind the door.
 */
export async function signInByRequest(
  visitor: Visitor,
  plane: SharedPlane,
  login: Login = 'ada',
): Promise<void> {
  const { request } = visitor.context;
  const asked = await request.get(`${plane.url}/`, { headers: NAVIGATION });
  const { action, form } = readForm({
    url: asked.url(),
    status: asked.status(),
    body: await asked.text(),
  });
  let answer = await request.post(action, {
    form: { ...form, login, password: plane.password(login) },
    headers: { ...NAVIGATION, origin: plane.issuer },
  });
  // The IdP goes on by a page: to a redirect, browsers would apply the form-action of its form.
  const next = readRefresh(answer.headers()['refresh'], answer.url());
  if (next !== undefined) answer = await request.get(next, { headers: NAVIGATION });
  if (answer.status() !== 200 || answer.url() !== `${plane.url}/`)
    throw new Error(`signing in ended with ${answer.status()} at ${answer.url()}`);
}

/** Signs a visitor in, and opens an address of the plane in a new tab. */
export async function openSignedIn(
  visitor: Visitor,
  plane: SharedPlane,
  path: string,
  login: Login = 'ada',
): Promise<Page> {
  await signInByRequest(visitor, plane, login);
  return visitor.open(plane.url + path);
}

/** Ends all sessions of a person from a browser that no test looks at, as the button of the account page does. */
export async function endEverySession(plane: SharedPlane, login: Login = 'ada'): Promise<void> {
  const elsewhere = new Browser();
  await plane.signIn(elsewhere, '/', login);
  const ended = await elsewhere.visit(`${plane.url}/auth/account`, {
    form: { end: 'all' },
    headers: { origin: plane.url, 'sec-fetch-site': 'same-origin' },
  });
  const left = await elsewhere.step(`${plane.url}/me`);
  if (ended.status !== 200 || left.status !== 401)
    throw new Error(`signing out everywhere ended with ${ended.status} at ${ended.url}`);
}

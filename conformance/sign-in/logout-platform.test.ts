import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import type { Received } from '../wire/exchange.ts';
import { type Plane, startPlane } from '../wire/platform.ts';
import { SESSION_COOKIE } from '../wire/sign-in.ts';

const WANTED = '/console/projects/x?y=1';

describe('Signing out through the embedded gateway', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane();
  });
  afterAll(() => plane.stop());

  const me = async (browser: Browser) => (await browser.step(`${plane.url}/me`)).status;
  const signedIn = async () => {
    const browser = new Browser();
    expect((await plane.signIn(browser, WANTED)).url).toBe(plane.url + WANTED);
    return browser;
  };
  /** Posts from a page of ours and follows over the IdP to where it ends. */
  const signOut = (browser: Browser, query = '') =>
    browser.visit(`${plane.url}/logout${query}`, {
      form: {},
      headers: { origin: plane.url, 'sec-fetch-site': 'same-origin' },
    });
  const asksForPassword = ({ status, url, body }: Received) =>
    status === 200 && new URL(url).origin === plane.issuer && body.includes('type="password"');
  const isSignedOutPage = ({ status, url, body }: Received) =>
    status === 200 &&
    new URL(url).origin + new URL(url).pathname === `${plane.url}/logout` &&
    body.includes('You are signed out');

  it.each([
    ['', '/'],
    [`?redirect_url=${encodeURIComponent(WANTED)}`, WANTED],
    [`?redirect_url=${encodeURIComponent('https://evil.example/')}`, '/'],
  ])(
    'ends here and at the IdP with the query %j: the signed-out page, then the password form',
    async (query, target) => {
      const browser = await signedIn();
      const old = browser.cookie('localhost', SESSION_COOKIE) ?? '';
      const ended = await signOut(browser, query);
      expect(isSignedOutPage(ended)).toBe(true);
      expect(browser.history.some(({ url }) => url.startsWith(`${plane.issuer}/`))).toBe(true);
      expect(browser.cookieNames('localhost')).toEqual([]);
      expect(await me(browser)).toBe(401);
      browser.setCookie('localhost', SESSION_COOKIE, old);
      expect(await me(browser)).toBe(401);
      expect((await browser.step(plane.url + WANTED)).status).toBe(302);
      // The page's link, and no other step, leads into a new sign-in; it ends on the target.
      const link = /href="(\/login[^"]*)"/.exec(ended.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
      const form = await browser.visit(new URL(link, plane.url).href);
      expect(asksForPassword(form)).toBe(true);
      const again = await browser.submit(form, { login: 'ada', password: plane.password('ada') });
      expect(again.url).toBe(plane.url + target);
    },
  );

  it('is what makes the IdP ask again: without it the next sign-in needs no password', async () => {
    const browser = await signedIn();
    await browser.step(`${plane.url}/login`);
    browser.setCookie('localhost', SESSION_COOKIE, 'lost');
    const landed = await browser.visit(`${plane.url}/login?redirect_url=${WANTED}`);
    expect(landed.url).toBe(plane.url + WANTED);
    expect(await me(browser)).toBe(200);
  });

  it('does not happen for a link of another site: it asks, here and at the IdP nothing is cleared', async () => {
    const browser = await signedIn();
    const question = await browser.visit(`${plane.url}/logout`, {
      headers: { 'sec-fetch-site': 'cross-site' },
    });
    expect(question.body).toContain('Sign out?');
    expect(await me(browser)).toBe(200);
    const ended = await browser.submit(question, {});
    expect(isSignedOutPage(ended)).toBe(true);
    expect(asksForPassword(await browser.visit(`${plane.url}/login`))).toBe(true);
  });

  it('leaves other people and other browsers signed in', async () => {
    const ada = await signedIn();
    const adaElsewhere = await signedIn();
    const grace = new Browser();
    await plane.signIn(grace, '/', 'grace');
    await signOut(ada);
    expect([await me(ada), await me(adaElsewhere), await me(grace)]).toEqual([401, 200, 200]);
  });
});

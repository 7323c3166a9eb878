import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { type Plane, startPlane } from '../wire/platform.ts';

describe.each<[string, readonly string[], string]>([
  ['http', [], 'core_session'],
  ['https, under the authority of its own,', ['--https'], '__Host-core_session'],
])('Signing out at the embedded IdP, where the public URL is %s', (_, args, cookieName) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(args);
  });
  afterAll(() => plane.stop());

  const me = async (browser: Browser) => (await browser.step(`${plane.url}/me`)).status;
  const signedIn = async (login: 'ada' | 'grace' = 'ada') => {
    const browser = new Browser();
    await plane.signIn(browser, '/', login);
    expect(await me(browser)).toBe(200);
    return browser;
  };
  /** On the IdP's own page, from which nothing leads back here. */
  const signOutAtIdp = async (browser: Browser) => {
    const question = await browser.visit(`${plane.issuer}/idp/logout`);
    expect(question.body).toContain('Sign out?');
    const ended = await browser.submit(question, { logout: 'yes' });
    expect(new URL(ended.url).origin).toBe(plane.issuer);
  };

  it('ends the session here before the page is shown, and no other', async () => {
    const browser = await signedIn();
    const elsewhere = await signedIn();
    const grace = await signedIn('grace');
    await signOutAtIdp(browser);
    expect(browser.cookie('localhost', cookieName)).toBeDefined();
    expect([await me(browser), await me(elsewhere), await me(grace)]).toEqual([401, 200, 200]);
  });

  it('lets the same browser sign in again at once', async () => {
    const browser = await signedIn();
    await signOutAtIdp(browser);
    expect(await me(browser)).toBe(401);
    await plane.signIn(browser, '/');
    expect(await me(browser)).toBe(200);
  });
});

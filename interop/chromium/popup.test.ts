import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { browserTest as it } from './browser-test.ts';
import { CHROMIUM } from './chromium.ts';
import { type ForeignSite, startForeignSite } from './foreign-site.ts';
import { endEverySession, type Login, openSignedIn, signInByRequest } from './person.ts';
import type { SharedPlane } from './shared-plane.ts';
import { fillIn, typeCredentials, type Visitor, waitForConsole } from './visitor.ts';

const TYPED = 'Half a sentence that no person wants to type twi';
/** Longer than the page waits before it asks again. */
const ASKS_AGAIN_MS = 31_000;

describe.skipIf(CHROMIUM.isLeftOut)('Chromium: signing in again in a pop-up', () => {
  /** A console that is open, with its clock in the test's hand. */
  const openConsole = async (plane: SharedPlane, visitor: Visitor) => {
    await signInByRequest(visitor, plane);
    const page = await visitor.newTabWithClock();
    await page.goto(`${plane.url}/console/typing`);
    await waitForConsole(page);
    return page;
  };
  /** A console in which a person types, and whose session then ends. */
  const typeUntilEnded = async (plane: SharedPlane, visitor: Visitor) => {
    const page = await openConsole(plane, visitor);
    await page.getByLabel('Note').fill(TYPED);
    await endEverySession(plane);
    await page.clock.fastForward(ASKS_AGAIN_MS);
    await page.getByText('Your session has ended.').waitFor();
    expect(await offered(page)).toEqual(['Sign in again']);
    return page;
  };
  const openPopup = async (page: Page, button = 'Sign in again') => {
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: button }).click(),
    ]);
    return popup;
  };
  /** The person has to type again, because the IdP has forgotten them as well. */
  const forgetAtIdp = (visitor: Visitor) => visitor.context.clearCookies({ domain: '127.0.0.1' });
  /** Buttons of the banners that are shown. */
  const offered = (page: Page) => page.getByRole('alert').getByRole('button').allTextContents();

  it('keeps what was typed: the window closes itself, the banner goes, the session counts again', async ({
    plane,
    visitor,
  }) => {
    const page = await typeUntilEnded(plane, visitor);
    await forgetAtIdp(visitor);
    const popup = await openPopup(page);
    const closed = popup.waitForEvent('close');
    await fillIn(popup, plane, 'ada');
    await closed;
    await page.getByText('Your session has ended.').waitFor({ state: 'hidden' });
    expect(await offered(page)).toEqual([]);
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
    expect(page.url()).toBe(`${plane.url}/console/typing`);
    await waitForConsole(page);
    expect(await page.evaluate('fetch("/console/data").then(({ status }) => status)')).toBe(200);
  });

  it('asks for no password when the identity provider still knows the person', async ({
    plane,
    visitor,
  }) => {
    const page = await typeUntilEnded(plane, visitor);
    const popup = await openPopup(page);
    if (!popup.isClosed()) await popup.waitForEvent('close');
    await page.getByText('Your session has ended.').waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
  });

  it('warns in both windows when another person signs in, and a sign-in of the first person removes the warning', async ({
    plane,
    visitor,
  }) => {
    const page = await typeUntilEnded(plane, visitor);
    await forgetAtIdp(visitor);
    const popup = await openPopup(page);
    await fillIn(popup, plane, 'grace');
    await popup.getByRole('heading', { name: 'This is another account' }).waitFor();
    await popup.getByText('The other window was working with another account.').waitFor();
    await page.getByText('You are signed in with another account now.').waitFor();
    await page.getByText('Your session has ended.').waitFor({ state: 'hidden' });
    expect(popup.isClosed()).toBe(false);
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
    // It stays a warning when the page asks for itself.
    await page.clock.fastForward(ASKS_AGAIN_MS);
    await page.getByText('You are signed in with another account now.').waitFor();

    const closed = popup.waitForEvent('close');
    await popup.getByRole('link', { name: 'Use another account' }).click();
    await fillIn(popup, plane, 'ada');
    await closed;
    await page
      .getByText('You are signed in with another account now.')
      .waitFor({ state: 'hidden' });
    expect(await offered(page)).toEqual([]);
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
  });

  it('works when the pages of the identity provider cut the window off from its opener', async ({
    plane,
    visitor,
  }) => {
    const page = await typeUntilEnded(plane, visitor);
    await forgetAtIdp(visitor);
    const shown = visitor.context.waitForEvent(
      'response',
      (response) => response.url().startsWith(`${plane.issuer}/`) && response.status() === 200,
    );
    const popup = await openPopup(page);
    expect((await shown).headers()['cross-origin-opener-policy']).toBe('same-origin');
    await popup.getByLabel('Password').waitFor();
    expect(await popup.evaluate('window.opener')).toBeNull();
    const closed = popup.waitForEvent('close');
    await fillIn(popup, plane, 'ada');
    await closed;
    await page.getByText('Your session has ended.').waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
  });

  it('stays in the pop-up when it fails, and "try again" ends in the page all the same', async ({
    plane,
    visitor,
  }) => {
    const page = await typeUntilEnded(plane, visitor);
    await forgetAtIdp(visitor);
    const popup = await openPopup(page);
    await popup.getByRole('button', { name: 'Cancel' }).click();
    await popup
      .getByRole('heading', { name: 'The identity provider did not sign you in' })
      .waitFor();
    expect(await page.getByText('Your session has ended.').isVisible()).toBe(true);
    const closed = popup.waitForEvent('close');
    await popup.getByRole('link', { name: 'Try again' }).click();
    await fillIn(popup, plane, 'ada');
    await closed;
    await page.getByText('Your session has ended.').waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
  });

  it('notices by itself that another person has signed in from another tab', async ({
    plane,
    visitor,
  }) => {
    const page = await typeUntilEnded(plane, visitor);
    await forgetAtIdp(visitor);
    const tab = await visitor.open(`${plane.url}/console/other`);
    await typeCredentials(tab, plane, 'grace');
    await page.clock.fastForward(ASKS_AGAIN_MS);
    await page.getByText('You are signed in with another account now.').waitFor();
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
  });

  it('says in a browser without scripts that the window can be closed', async ({
    plane,
    arrive,
  }) => {
    const plain = await arrive({ javaScriptEnabled: false });
    const page = await plain.open(`${plane.url}/login?mode=popup`);
    await typeCredentials(page, plane);
    await page.getByText('You are signed in. You can close this window.').waitFor();
    expect(page.url()).toBe(`${plane.url}/auth/signed-in`);
  });

  it('leaves a console whose session stands alone', async ({ plane, visitor }) => {
    const page = await openConsole(plane, visitor);
    await page.clock.fastForward(ASKS_AGAIN_MS);
    await waitForConsole(page);
    expect(await offered(page)).toEqual([]);
  });
});

describe.skipIf(CHROMIUM.isLeftOut).each([
  ['another site', '127.0.0.1'],
  ['another origin of the same site', 'localhost'],
] as const)('Chromium: a pop-up of ours that a page of %s has opened', (_name, host) => {
  let foreign: ForeignSite;
  beforeAll(async () => {
    foreign = await startForeignSite(host);
  });
  afterAll(() => foreign.close());

  /** The account of the page, as the page's own script gets it. */
  const accountIn = (page: Page) =>
    page.evaluate<string>('fetch("/auth/session").then((r) => r.json()).then((s) => s.account)');
  /** A listener of our own origin that hears every message, and answers none. */
  const listenIn = (page: Page) =>
    page.evaluate(`globalThis.heard = [];
      globalThis.listening = new BroadcastChannel('sallyport');
      listening.onmessage = ({ data }) => heard.push(data.type);`);
  /** A page of the foreign site with a button for each address. */
  const openForeign = (plane: SharedPlane, visitor: Visitor, paths: readonly string[]) => {
    const buttons = paths.map(
      (path) => `<button onclick="w = open('${plane.url}${path}', 'w', 'popup')">${path}</button>`,
    );
    return visitor.open(foreign.serve(`<link rel="icon" href="data:,">${buttons.join('')}`));
  };

  it.for(['ada', 'grace'] as const)(
    'stays open for every person who is signed in, whatever account its address guesses, though a page of ours is open: %s',
    async (login: Login, { plane, visitor }) => {
      const own = await openSignedIn(visitor, plane, '/console/x', login);
      await waitForConsole(own);
      await listenIn(own);
      const account = await accountIn(own);
      expect(account).toHaveLength(16);
      const paths = ['', `&account=${account}`, '&account=AAAAAAAAAAAAAAAA'].flatMap((query) => [
        `/login?mode=popup${query}`,
        `/auth/signed-in?x=1${query}`,
      ]);
      const page = await openForeign(plane, visitor, paths);
      for (const path of paths) {
        const before = await own.evaluate<number>('heard.length');
        const [popup] = await Promise.all([
          page.waitForEvent('popup'),
          page.getByRole('button', { name: path, exact: true }).click(),
        ]);
        await popup.getByText('You are signed in. You can close this window.').waitFor();
        // The console has heard of it by now, and has answered if it ever will.
        await own.waitForFunction(`heard.length > ${before}`);
        await own.evaluate('fetch("/auth/session").then((r) => r.text())');
        expect(await own.evaluate('heard')).not.toContain('sallyport:go-on');
        expect([popup.isClosed(), await page.evaluate('w.closed')]).toEqual([false, false]);
        expect(await popup.getByRole('heading').textContent()).toBe('Signed in');
        await popup.close();
      }
    },
  );

  it('closes for a page of ours that has asked for it, in the same browser', async ({
    plane,
    visitor,
  }) => {
    const own = await openSignedIn(visitor, plane, '/console/x');
    await waitForConsole(own);
    const [popup] = await Promise.all([own.waitForEvent('popup'), own.evaluate('signInAgain()')]);
    if (!popup.isClosed()) await popup.waitForEvent('close');
  });
});

import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../../conformance/wire/platform.ts';
import { CHROMIUM, openChromium, type SharedChromium } from './chromium.ts';
import { type ForeignSite, startForeignSite } from './foreign-site.ts';
import { signIn, typeCredentials, Visitor, waitForConsole } from './visitor.ts';

const TYPED = 'Half a sentence that nobody wants to type twi';
/** Longer than the page waits before it asks again. */
const ASKS_AGAIN_MS = 31_000;

describe.skipIf(CHROMIUM.isLeftOut)('Chromium: signing in again in a pop-up', () => {
  let plane: Plane;
  let chromium: SharedChromium;
  let visitor: Visitor;
  let elsewhere: Visitor;
  beforeAll(async () => {
    chromium = await openChromium();
    plane = await startPlane();
  });
  afterAll(async () => {
    await chromium.leave();
    await plane.stop();
  });
  beforeEach(async () => {
    visitor = await Visitor.arrive(chromium.browser);
    elsewhere = await Visitor.arrive(chromium.browser);
  });
  afterEach(async () => {
    await visitor.leave();
    await elsewhere.leave();
    expect([...visitor.complaints(), ...elsewhere.complaints()]).toEqual([]);
  });

  /** A console in which somebody types, and whose session then ends. */
  const typeUntilEnded = async () => {
    const page = await visitor.newTab();
    await page.clock.install();
    await page.goto(`${plane.url}/console/typing`);
    await typeCredentials(page, plane);
    await waitForConsole(page);
    await page.getByLabel('Note').fill(TYPED);
    const account = await signIn(elsewhere, plane, '/auth/account');
    await account.getByRole('button', { name: 'Sign out everywhere' }).click();
    await account.getByRole('heading', { name: 'You are signed out' }).waitFor();
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
  const type = async (popup: Page, login: 'ada' | 'grace') => {
    await popup.getByLabel('User name').fill(login);
    await popup.getByLabel('Password').fill(plane.password(login));
    await popup.getByRole('button', { name: 'Sign in' }).click();
  };
  /** The person has to type again, because the IdP has forgotten them as well. */
  const forgetAtIdp = () => visitor.context.clearCookies({ domain: '127.0.0.1' });
  /** Buttons of the banners that are shown. */
  const offered = (page: Page) => page.getByRole('alert').getByRole('button').allTextContents();

  it('keeps what was typed: the window closes itself, the banner goes, the session counts again', async () => {
    const page = await typeUntilEnded();
    await forgetAtIdp();
    const popup = await openPopup(page);
    const closed = popup.waitForEvent('close');
    await type(popup, 'ada');
    await closed;
    await page.getByText('Your session has ended.').waitFor({ state: 'hidden' });
    expect(await offered(page)).toEqual([]);
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
    expect(page.url()).toBe(`${plane.url}/console/typing`);
    await waitForConsole(page);
    expect(await page.evaluate('fetch("/console/data").then(({ status }) => status)')).toBe(200);
  });

  it('asks nobody to type when the identity provider still knows the person', async () => {
    const page = await typeUntilEnded();
    const popup = await openPopup(page);
    if (!popup.isClosed()) await popup.waitForEvent('close');
    await page.getByText('Your session has ended.').waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
  });

  it('warns in both windows when somebody else signs in, and is put right by the first one', async () => {
    const page = await typeUntilEnded();
    await forgetAtIdp();
    const popup = await openPopup(page);
    await type(popup, 'grace');
    await popup.getByRole('heading', { name: 'This is another account' }).waitFor();
    await popup.getByText('The other window was working as somebody else.').waitFor();
    await page.getByText('You are signed in as somebody else now.').waitFor();
    await page.getByText('Your session has ended.').waitFor({ state: 'hidden' });
    expect(popup.isClosed()).toBe(false);
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
    // It stays a warning when the page asks for itself.
    await page.clock.fastForward(ASKS_AGAIN_MS);
    await page.getByText('You are signed in as somebody else now.').waitFor();

    const closed = popup.waitForEvent('close');
    await popup.getByRole('link', { name: 'Use another account' }).click();
    await type(popup, 'ada');
    await closed;
    await page.getByText('You are signed in as somebody else now.').waitFor({ state: 'hidden' });
    expect(await offered(page)).toEqual([]);
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
  });

  it('works when the pages of the identity provider cut the window off from its opener', async () => {
    const page = await typeUntilEnded();
    await forgetAtIdp();
    const shown = visitor.context.waitForEvent(
      'response',
      (response) => response.url().startsWith(`${plane.issuer}/`) && response.status() === 200,
    );
    const popup = await openPopup(page);
    expect((await shown).headers()['cross-origin-opener-policy']).toBe('same-origin');
    await popup.getByLabel('Password').waitFor();
    expect(await popup.evaluate('window.opener')).toBeNull();
    const closed = popup.waitForEvent('close');
    await type(popup, 'ada');
    await closed;
    await page.getByText('Your session has ended.').waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
  });

  it('stays in the pop-up when it fails, and "try again" ends in the page all the same', async () => {
    const page = await typeUntilEnded();
    await forgetAtIdp();
    const popup = await openPopup(page);
    await popup.getByRole('button', { name: 'Cancel' }).click();
    await popup
      .getByRole('heading', { name: 'The identity provider did not sign you in' })
      .waitFor();
    expect(await page.getByText('Your session has ended.').isVisible()).toBe(true);
    const closed = popup.waitForEvent('close');
    await popup.getByRole('link', { name: 'Try again' }).click();
    await type(popup, 'ada');
    await closed;
    await page.getByText('Your session has ended.').waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
  });

  it('notices by itself that somebody else has signed in from another tab', async () => {
    const page = await typeUntilEnded();
    await forgetAtIdp();
    const tab = await visitor.open(`${plane.url}/console/other`);
    await typeCredentials(tab, plane, 'grace');
    await page.clock.fastForward(ASKS_AGAIN_MS);
    await page.getByText('You are signed in as somebody else now.').waitFor();
    expect(await page.getByLabel('Note').inputValue()).toBe(TYPED);
  });

  it('says in a browser without scripts that the window can be closed', async () => {
    const plain = await Visitor.arrive(chromium.browser, { javaScriptEnabled: false });
    const page = await plain.open(`${plane.url}/login?mode=popup`);
    await typeCredentials(page, plane);
    await page.getByText('You are signed in. You can close this window.').waitFor();
    expect(page.url()).toBe(`${plane.url}/auth/signed-in`);
    await plain.leave();
  });

  it('leaves a console whose session stands alone', async () => {
    const page = await visitor.newTab();
    await page.clock.install();
    await page.goto(`${plane.url}/console/typing`);
    await typeCredentials(page, plane);
    await waitForConsole(page);
    await page.clock.fastForward(ASKS_AGAIN_MS);
    await waitForConsole(page);
    expect(await offered(page)).toEqual([]);
  });
});

describe.skipIf(CHROMIUM.isLeftOut).each([
  ['another site', '127.0.0.1'],
  ['another origin of the same site', 'localhost'],
] as const)('Chromium: a pop-up of ours that a page of %s has opened', (_name, host) => {
  let plane: Plane;
  let chromium: SharedChromium;
  let foreign: ForeignSite;
  let visitor: Visitor;
  beforeAll(async () => {
    chromium = await openChromium();
    [plane, foreign] = await Promise.all([startPlane(), startForeignSite(host)]);
  });
  afterAll(async () => {
    await chromium.leave();
    await Promise.all([plane.stop(), foreign.close()]);
  });
  beforeEach(async () => {
    visitor = await Visitor.arrive(chromium.browser);
  });
  afterEach(async () => {
    await visitor.leave();
    expect(visitor.complaints()).toEqual([]);
  });

  /** Who works in the page, as the page's own script is told. */
  const accountIn = (page: Page) =>
    page.evaluate<string>('fetch("/auth/session").then((r) => r.json()).then((s) => s.account)');
  /** A listener of our own origin that hears every message, and answers none. */
  const listenIn = (page: Page) =>
    page.evaluate(`globalThis.heard = [];
      globalThis.listening = new BroadcastChannel('sallyport');
      listening.onmessage = ({ data }) => heard.push(data.type);`);
  const openFromForeign = async (path: string) => {
    const page = await visitor.open(
      foreign.serve(
        `<link rel="icon" href="data:,"><button onclick="w = open('${plane.url}${path}', 'w', 'popup')">Win a cat</button>`,
      ),
    );
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button').click(),
    ]);
    await popup.getByText('You are signed in. You can close this window.').waitFor();
    const isClosed = () => page.evaluate<boolean>('w.closed');
    return { popup, isClosed };
  };

  it.each(['ada', 'grace'] as const)(
    'stays open whoever is signed in, whatever account its address guesses, though a page of ours is open: %s',
    async (login) => {
      const own = await visitor.open(`${plane.url}/console/x`);
      await typeCredentials(own, plane, login);
      await waitForConsole(own);
      await listenIn(own);
      const account = await accountIn(own);
      expect(account).toHaveLength(16);
      for (const query of ['', `&account=${account}`, '&account=AAAAAAAAAAAAAAAA']) {
        for (const path of ['/login?mode=popup', '/auth/signed-in?x=1']) {
          const before = await own.evaluate<number>('heard.length');
          const { popup, isClosed } = await openFromForeign(path + query);
          // The console has heard of it by now, and has answered if it ever will.
          await own.waitForFunction(`heard.length > ${before}`);
          await own.evaluate('fetch("/auth/session").then((r) => r.text())');
          expect(await own.evaluate('heard')).not.toContain('sallyport:go-on');
          expect([popup.isClosed(), await isClosed()]).toEqual([false, false]);
          expect(await popup.getByRole('heading').textContent()).toBe('Signed in');
          await popup.close();
        }
      }
    },
  );

  it('closes for a page of ours that has asked for it, in the same browser', async () => {
    const own = await visitor.open(`${plane.url}/console/x`);
    await typeCredentials(own, plane);
    await waitForConsole(own);
    const [popup] = await Promise.all([own.waitForEvent('popup'), own.evaluate('signInAgain()')]);
    if (!popup.isClosed()) await popup.waitForEvent('close');
  });
});

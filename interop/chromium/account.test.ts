import { describe, expect } from 'vitest';
import { browserTest } from './browser-test.ts';
import { CHROMIUM } from './chromium.ts';
import { startForeignSite } from './foreign-site.ts';
import { auditPage } from './page-audit.ts';
import { endEverySession, openSignedIn, signInByRequest } from './person.ts';
import type { SharedPlane } from './shared-plane.ts';
import { typeCredentials, type Visitor } from './visitor.ts';

const LAPTOP =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15';

/** A session of the same person elsewhere; the list then shows no others, beside those of the test. */
const it = browserTest.extend('laptop', { auto: true }, async ({ plane, arrive }) => {
  await endEverySession(plane);
  const laptop = await arrive({ userAgent: LAPTOP });
  await signInByRequest(laptop, plane);
  return laptop;
});

describe.skipIf(CHROMIUM.isLeftOut)('Chromium: the account page', () => {
  /** Asks with the browser's cookies, without a redirect to the IdP, which may still know the person. */
  const isSignedIn = async (plane: SharedPlane, who: Visitor) =>
    (await who.context.request.get(`${plane.url}/me`)).status() === 200;

  it('is reached from the console, and shows both browsers with this one marked', async ({
    plane,
    visitor,
  }) => {
    const page = await openSignedIn(visitor, plane, '/');
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    const items = page.getByRole('listitem');
    expect(await items.count()).toBe(2);
    expect(await items.nth(0).textContent()).toMatch(/Headless Chrome \d+ on Linux this browser/);
    expect(await items.nth(1).textContent()).toMatch(/Safari 18 on macOS.*from 127\.0\.0\.1/s);
    for (const shown of ['Ada Lovelace', plane.issuer])
      await page.getByText(shown, { exact: true }).waitFor();
  });

  it('ends the session of another browser with its button, and that browser has to sign in again', async ({
    plane,
    visitor,
    laptop,
  }) => {
    const page = await openSignedIn(visitor, plane, '/auth/account');
    expect(await isSignedIn(plane, laptop)).toBe(true);
    await page
      .getByRole('button', { name: /^End Safari 18 on macOS Signed in .* \(just now\)/ })
      .click();
    await page.getByText('That session has ended.').waitFor();
    expect(await page.getByRole('listitem').count()).toBe(1);
    expect(await isSignedIn(plane, laptop)).toBe(false);
    expect(await isSignedIn(plane, visitor)).toBe(true);
  });

  it('needs no mouse: Tab reaches each button, and Enter ends what it names', async ({
    plane,
    visitor,
    laptop,
  }) => {
    const page = await openSignedIn(visitor, plane, '/auth/account');
    const reached: string[] = [];
    for (let stop = 0; stop < 4; stop += 1) {
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate<string>('document.activeElement.textContent'));
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe(
        'solid',
      );
    }
    expect(reached).toEqual(['Sign out', 'End', 'Sign out everywhere', 'Back to the platform']);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByText('That session has ended.').waitFor();
    expect(await isSignedIn(plane, laptop)).toBe(false);
  });

  it('signs out everywhere: this browser ends on the signed-out page, the other at the sign-in', async ({
    plane,
    visitor,
    laptop,
  }) => {
    const page = await openSignedIn(visitor, plane, '/auth/account');
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    expect(await visitor.cookieNames('localhost')).toEqual([]);
    expect(await visitor.cookieNames('127.0.0.1')).not.toContain('sallyport_idp_session');
    expect(await isSignedIn(plane, laptop)).toBe(false);
  });

  it('signs out of this browser alone by its own button', async ({ plane, visitor, laptop }) => {
    const page = await openSignedIn(visitor, plane, '/auth/account');
    await page.getByRole('button', { name: /^Sign out Headless Chrome/ }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    expect(await visitor.cookieNames('localhost')).toEqual([]);
    expect(await isSignedIn(plane, laptop)).toBe(true);
  });

  it('sends a person without a session to sign in, and comes back', async ({ plane, visitor }) => {
    const page = await visitor.open(`${plane.url}/auth/account`);
    await typeCredentials(page, plane, 'grace');
    expect(page.url()).toBe(`${plane.url}/auth/account`);
    await page.getByText('Grace Hopper').waitFor();
  });

  it('takes no order from a page of another site, not even of a sibling host', async ({
    plane,
    visitor,
  }) => {
    await signInByRequest(visitor, plane);
    for (const host of ['127.0.0.1', 'localhost'] as const) {
      const site = await startForeignSite(host);
      const trap = site.serve(
        `<form method="post" action="${plane.url}/auth/account"><input name="end" value="all"><button>Win</button></form>`,
      );
      visitor.expectRefusal(`${site.origin}/favicon.ico`);
      const page = await visitor.open(trap);
      await page.getByRole('button', { name: 'Win' }).click();
      await page.getByRole('heading', { name: 'Another site asked for this' }).waitFor();
      expect(await isSignedIn(plane, visitor)).toBe(true);
      await site.close();
    }
  });

  it('is readable with a long list, narrow and wide, dark and light', async ({
    plane,
    visitor,
  }) => {
    const page = await openSignedIn(visitor, plane, '/auth/account');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [320, 360, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        const { overflow, topHeadings, text, smallTargets } = await auditPage(page);
        const where = `${colorScheme}, ${width} px`;
        expect(overflow, where).toBe(0);
        expect(topHeadings, where).toBe(1);
        expect(text.contrast, `${where}: ${text.sample}`).toBeGreaterThanOrEqual(4.5);
        expect(smallTargets, where).toEqual([]);
      }
    }
  });
});

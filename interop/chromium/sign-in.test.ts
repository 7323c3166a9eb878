import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { browserTest as it } from './browser-test.ts';
import { CHROMIUM, launchWithoutCookiesOf } from './chromium.ts';
import { signIn, typeCredentials, Visitor, waitForConsole } from './visitor.ts';

/** With whatever a browser leaves as it is, so that it is the product that would change it. */
const DEEP_LINK =
  "/console/a%20b/caf%C3%A9/x%252Fy/it's;v=1[z]?q=1%202&next=%2Fy&empty=&&plus=a+b&q={|}[^`]&z=%C3%A9";

describe.skipIf(CHROMIUM.isLeftOut)('Chromium: signing in', () => {
  it('ends on the deep link that was asked for, path and query byte for byte', async ({
    plane,
    visitor,
  }) => {
    const page = await visitor.open(plane.url + DEEP_LINK);
    expect(new URL(page.url()).origin).toBe(plane.issuer);
    await typeCredentials(page, plane);
    expect(page.url()).toBe(plane.url + DEEP_LINK);
    expect(await page.locator('#target').textContent()).toBe(DEEP_LINK);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Hello, Ada Lovelace');
  });

  it('shows the protected page only after the sign-in', async ({ plane, visitor }) => {
    const page = await visitor.open(plane.url + DEEP_LINK);
    expect(await page.locator('#target').count()).toBe(0);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page
      .getByRole('heading', { name: 'The identity provider did not sign you in' })
      .waitFor();
    expect(await visitor.cookieNames('localhost')).toEqual([]);
  });

  it('offers to try again after a cancelled sign-in, and then ends on the deep link', async ({
    plane,
    visitor,
  }) => {
    const page = await visitor.open(plane.url + DEEP_LINK);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Try again' }).click();
    await typeCredentials(page, plane);
    expect(page.url()).toBe(plane.url + DEEP_LINK);
  });

  it('holds over a reload and in another tab, and in no other browser', async ({
    plane,
    visitor,
    arrive,
  }) => {
    const page = await signIn(visitor, plane, DEEP_LINK);
    await page.reload();
    expect(page.url()).toBe(plane.url + DEEP_LINK);
    const other = await visitor.open(`${plane.url}/console/other`);
    expect(other.url()).toBe(`${plane.url}/console/other`);
    const stranger = await arrive();
    const theirs = await stranger.open(`${plane.url}/console/other`);
    expect(new URL(theirs.url()).origin).toBe(plane.issuer);
  });

  it('leaves one cookie, which no script can read, and shows how long the session will last', async ({
    plane,
    visitor,
  }) => {
    const page = await signIn(visitor, plane);
    expect(await visitor.cookieNames('localhost')).toEqual(['core_session']);
    expect(await page.evaluate('document.cookie')).toBe('');
    await waitForConsole(page);
    expect(await page.locator('#age').textContent()).toMatch(/^\d+ s$/);
    expect(await page.locator('#left').textContent()).toMatch(/^(12 h|11 h 59 min)$/);
  });

  it('says that the password was wrong in an alert that the fields refer to, then admits the right one', async ({
    plane,
    visitor,
  }) => {
    const page = await visitor.open(plane.url + DEEP_LINK);
    await page.getByLabel('User name').fill('ada');
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toBe('The user name or the password is not right.');
    const password = page.getByLabel('Password');
    expect(await password.getAttribute('aria-describedby')).toBe(await alert.getAttribute('id'));
    expect(await password.inputValue()).toBe('');
    expect(await visitor.cookieNames('localhost')).not.toContain('core_session');
    await typeCredentials(page, plane);
    expect(page.url()).toBe(plane.url + DEEP_LINK);
  });

  it('needs no mouse: Tab and Enter sign in and sign out, and focus is seen on the way', async ({
    plane,
    visitor,
  }) => {
    const page = await visitor.open(`${plane.url}/console/keyboard`);
    await page.locator('#login:focus').waitFor();
    await page.keyboard.type('ada');
    expect(await focusRing(page)).not.toBe('none');
    await page.keyboard.press('Tab');
    await page.locator('#password:focus').waitFor();
    await page.keyboard.type(plane.password('ada'));
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Sign in');
    expect(await focusRing(page)).toBe('solid');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${plane.url}/console/keyboard`);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Account');
    expect(await focusRing(page)).toBe('solid');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Sign out');
    expect(await focusRing(page)).toBe('solid');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Sign in again');
    expect(await focusRing(page)).toBe('solid');
    await page.keyboard.press('Enter');
    await page.getByLabel('Password').waitFor();
  });

  it('starts the sign-in once more when cookies are blocked, then says so', async ({ plane }) => {
    const profile = temporaryFolder();
    const context = await launchWithoutCookiesOf('localhost', profile.path);
    const blocked = new Visitor(context);
    const page = await blocked.newTab();
    const authorizations: string[] = [];
    page.on('request', (request) => {
      if (request.url().startsWith(`${plane.issuer}/idp/authorize?`))
        authorizations.push(request.url());
    });
    await page.goto(`${plane.url}/console/x`);
    await page.getByLabel('User name').fill('ada');
    await page.getByLabel('Password').fill(plane.password('ada'));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Your browser did not return our cookie' }).waitFor();
    expect(authorizations).toHaveLength(2);
    expect(await blocked.cookieNames('localhost')).toEqual([]);
    expect(await blocked.cookieNames('127.0.0.1')).not.toEqual([]);
    expect(blocked.complaints()).toEqual([]);
    await context.close();
    profile.remove();
  });
});

function focused(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.textContent');
}

function focusRing(page: Page): Promise<string> {
  return page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
}

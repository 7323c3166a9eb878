import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { browserTest as it } from './browser-test.ts';
import { CHROMIUM } from './chromium.ts';
import { openSignedIn, signInByRequest } from './person.ts';
import type { SharedPlane } from './shared-plane.ts';
import { signIn, typeCredentials, type Visitor, waitForConsole } from './visitor.ts';

describe.skipIf(CHROMIUM.isLeftOut)('Chromium: signing out', () => {
  it('ends on the signed-out page, not in a new sign-in, and both sessions have ended', async ({
    plane,
    visitor,
  }) => {
    const page = await signIn(visitor, plane, '/console/x');
    const idpCookies = await visitor.cookieNames('127.0.0.1');
    expect(idpCookies).toContain('sallyport_idp_session');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await showsSignedOut(page);
    expect(new URL(page.url()).origin).toBe(plane.url);
    expect(await visitor.cookieNames('localhost')).toEqual([]);
    expect(await visitor.cookieNames('127.0.0.1')).not.toContain('sallyport_idp_session');
    const again = await visitor.open(`${plane.url}/console/x`);
    await again.getByLabel('Password').waitFor();
    expect(await page.title()).toBe('You are signed out');
  });

  it('leaves the signed-out page only when the person wants to', async ({ plane, visitor }) => {
    const page = await openSignedIn(visitor, plane, '/');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await showsSignedOut(page);
    await page.reload();
    await showsSignedOut(page);
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await typeCredentials(page, plane);
    expect(page.url()).toBe(`${plane.url}/`);
  });

  it('brings back no protected page by the back button', async ({ plane, visitor }) => {
    const page = await openSignedIn(visitor, plane, '/console/x');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await showsSignedOut(page);
    await page.evaluate('history.back()');
    await page.getByLabel('Password').waitFor();
    expect(await page.locator('#target').count()).toBe(0);
    expect(new URL(page.url()).origin).toBe(plane.issuer);
  });

  it('asks first when the address is typed, clears nothing until then, and signs out on yes', async ({
    plane,
    visitor,
  }) => {
    await signInByRequest(visitor, plane);
    const typed = await visitor.open(`${plane.url}/logout`);
    await typed.getByRole('heading', { name: 'Sign out?' }).waitFor();
    expect(await visitor.cookieNames('localhost')).toContain('core_session');
    await isSignedIn(visitor, plane);
    await typed.getByRole('button', { name: 'Sign out' }).click();
    await showsSignedOut(typed);
    expect(await visitor.cookieNames('localhost')).toEqual([]);
  });

  it('goes to an open address in redirect_url after signing out', async ({ plane, visitor }) => {
    // A browser asks for the icon of an address that is no page.
    visitor.expectRefusal(`${plane.url}/favicon.ico`);
    const page = await openSignedIn(visitor, plane, '/');
    await page.evaluate('location.assign("/logout?redirect_url=%2Fhealthz%3Fseen%3D1")');
    await page.waitForURL(`${plane.url}/healthz?seen=1`);
    expect(await visitor.cookieNames('localhost')).toEqual([]);
  });

  it('offers a protected address in redirect_url as the link to sign in again', async ({
    plane,
    visitor,
  }) => {
    await signInByRequest(visitor, plane);
    const page = await visitor.open(`${plane.url}/logout?redirect_url=%2Fconsole%2Fnext%3Fa%3D1`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await showsSignedOut(page);
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await typeCredentials(page, plane);
    expect(page.url()).toBe(`${plane.url}/console/next?a=1`);
  });

  it('goes to no foreign address in redirect_url', async ({ plane, visitor }) => {
    const page = await openSignedIn(visitor, plane, '/');
    await page.evaluate('location.assign("/logout?redirect_url=http%3A%2F%2F127.0.0.1%3A9%2F")');
    await showsSignedOut(page);
    expect(new URL(page.url()).origin).toBe(plane.url);
  });

  it('is noticed by the script of a page that is still open in another tab', async ({
    plane,
    visitor,
  }) => {
    await signInByRequest(visitor, plane);
    const waiting = await visitor.newTabWithClock();
    await waiting.goto(`${plane.url}/console/waiting?a=1`);
    await waitForConsole(waiting);
    const page = await visitor.open(plane.url);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await showsSignedOut(page);
    await waiting.clock.fastForward(31_000);
    await waiting.getByText('Your session has ended').waitFor();
    const [popup] = await Promise.all([
      waiting.waitForEvent('popup'),
      waiting.getByRole('button', { name: 'Sign in again' }).click(),
    ]);
    await popup.getByLabel('Password').waitFor();
    expect(waiting.url()).toBe(`${plane.url}/console/waiting?a=1`);
  });

  it('leaves the script of an open page with 401 and JSON, not with a redirect', async ({
    plane,
    visitor,
  }) => {
    const open = await openSignedIn(visitor, plane, '/');
    expect(await fetchIn(open, '/console/data')).toMatchObject({ status: 200 });
    const page = await visitor.open(plane.url);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await showsSignedOut(page);
    visitor.expectRefusal(`${plane.url}/api/x`);
    const refused = await fetchIn(open, '/api/x');
    expect(refused).toMatchObject({
      status: 401,
      redirected: false,
      url: `${plane.url}/api/x`,
      type: 'application/problem+json',
    });
    expect(JSON.parse(refused.body)).toMatchObject({ login_url: `${plane.url}/login` });
  });
});

async function showsSignedOut(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
}

async function isSignedIn(visitor: Visitor, plane: SharedPlane): Promise<void> {
  const page = await visitor.open(`${plane.url}/console/still-here`);
  expect(page.url()).toBe(`${plane.url}/console/still-here`);
  await page.close();
}

function fetchIn(
  page: Page,
  path: string,
): Promise<{ status: number; redirected: boolean; url: string; type: string; body: string }> {
  return page.evaluate(`fetch('${path}').then(async (response) => ({
    status: response.status,
    redirected: response.redirected,
    url: response.url,
    type: response.headers.get('content-type'),
    body: await response.text(),
  }))`);
}

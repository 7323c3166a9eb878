import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../../conformance/wire/platform.ts';
import { CHROMIUM, openChromium, type SharedChromium } from './chromium.ts';
import { signIn, typeCredentials, Visitor } from './visitor.ts';

const TABS = 20;
const ATTEMPT_COOKIE = /^core_login_[0-3]$/;

describe.skipIf(CHROMIUM.isLeftOut)('Chromium: many tabs', () => {
  let plane: Plane;
  let chromium: SharedChromium;
  let visitor: Visitor;
  beforeAll(async () => {
    chromium = await openChromium();
  });
  afterAll(() => chromium.leave());
  // Each test its own: together they would sign in faster than one person may.
  beforeEach(async () => {
    plane = await startPlane();
    visitor = await Visitor.arrive(chromium.browser);
  });
  afterEach(async () => {
    await visitor.leave();
    await plane.stop();
    expect(visitor.complaints()).toEqual([]);
  });

  it.each([
    ['in the order they were opened', [0, 1]],
    ['in the other order', [1, 0]],
  ])('finishes two sign-ins %s, each on its own page', async (_name, order) => {
    const paths = ['/console/first?tab=1', '/console/second?tab=2'];
    const pages = [
      await visitor.open(plane.url + paths[0]),
      await visitor.open(plane.url + paths[1]),
    ];
    expect(await attemptCookies(visitor)).toHaveLength(2);
    for (const index of order) {
      const page = pages[index];
      if (page !== undefined) await typeCredentials(page, plane);
    }
    for (const [index, page] of pages.entries()) {
      expect(page.url()).toBe(plane.url + paths[index]);
      await page.reload();
      expect(page.url()).toBe(plane.url + paths[index]);
    }
  });

  it('keeps at most four attempts of twenty tabs, and one sign-in opens them all', async () => {
    const pages = await openTabs();
    for (const page of pages) expect(new URL(page.url()).origin).toBe(plane.issuer);
    const kept = await attemptCookies(visitor);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThanOrEqual(4);

    // The attempt of the first tab is gone by now: it is started again, and nobody types twice.
    const [first, ...others] = pages;
    if (first === undefined) throw new Error('no tab was opened');
    await typeCredentials(first, plane);
    expect(first.url()).toBe(`${plane.url}/console/tab?n=0`);
    await Promise.all(
      others.map((page, index) => page.goto(`${plane.url}/console/tab?n=${index + 1}`)),
    );
    endOnTheirOwnPage(pages);
  });

  it('opens twenty tabs at once with nobody typing while the identity provider knows the person', async () => {
    const page = await signIn(visitor, plane);
    await visitor.context.clearCookies({ domain: 'localhost' });
    await page.close();
    // A sign-in revokes the session it replaces; a tab between the two may miss its script.
    visitor.expectRefusal(`${plane.url}/console.js`);
    const pages = await openTabs();
    // A tab whose attempt was lost waits for the one that is being finished, and goes on by itself.
    await Promise.all(
      pages.map((page) => page.waitForURL(({ pathname }) => pathname !== '/callback')),
    );
    endOnTheirOwnPage(pages);
    expect((await attemptCookies(visitor)).length).toBeLessThanOrEqual(4);
  });

  async function openTabs(): Promise<Page[]> {
    const pages = await Promise.all(Array.from({ length: TABS }, () => visitor.newTab()));
    await Promise.all(pages.map((page, index) => page.goto(`${plane.url}/console/tab?n=${index}`)));
    return pages;
  }

  function endOnTheirOwnPage(pages: readonly Page[]): void {
    // Of the address of a failure page, no more than its path: the rest is of nobody's interest.
    expect(pages.map((page) => page.url().replace(/\?code=.*/, ''))).toEqual(
      pages.map((_page, index) => `${plane.url}/console/tab?n=${index}`),
    );
  }
});

async function attemptCookies(visitor: Visitor): Promise<string[]> {
  const names = await visitor.cookieNames('localhost');
  return names.filter((name) => ATTEMPT_COOKIE.test(name));
}

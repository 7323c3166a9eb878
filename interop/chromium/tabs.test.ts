import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { browserTest as it } from './browser-test.ts';
import { CHROMIUM } from './chromium.ts';
import { signInByRequest } from './person.ts';
import type { SharedPlane } from './shared-plane.ts';
import { typeCredentials, type Visitor } from './visitor.ts';

const TABS = 20;
const ATTEMPT_COOKIE = /^core_login_[0-3]$/;

describe.skipIf(CHROMIUM.isLeftOut)('Chromium: many tabs', () => {
  it.for([
    ['in the order they were opened', [0, 1]],
    ['in the other order', [1, 0]],
  ] as const)(
    'finishes two sign-ins %s, each on its own page',
    async ([, order], { plane, visitor }) => {
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
    },
  );

  it('keeps at most four attempts of twenty tabs, and one sign-in opens them all', async ({
    plane,
    visitor,
  }) => {
    const pages = await openTabs(plane, visitor);
    for (const page of pages) expect(new URL(page.url()).origin).toBe(plane.issuer);
    const kept = await attemptCookies(visitor);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThanOrEqual(4);

    // The attempt of the first tab is gone by now: it is started again, and the person types once.
    const [first, ...others] = pages;
    if (first === undefined) throw new Error('no tab was opened');
    await typeCredentials(first, plane);
    expect(first.url()).toBe(`${plane.url}/console/tab?n=0`);
    await Promise.all(
      others.map((page, index) => page.goto(`${plane.url}/console/tab?n=${index + 1}`)),
    );
    endOnTheirOwnPage(plane, pages);
  });

  it('opens twenty tabs at once without a password while the identity provider knows the person', async ({
    plane,
    visitor,
  }) => {
    await signInByRequest(visitor, plane);
    await visitor.context.clearCookies({ domain: 'localhost' });
    // A sign-in revokes the session it replaces; a tab between the two may miss its script.
    visitor.expectRefusal(`${plane.url}/console.js`);
    const pages = await openTabs(plane, visitor);
    // A tab whose attempt was lost waits for the one that is being finished, and goes on by itself.
    await Promise.all(
      pages.map((page) => page.waitForURL(({ pathname }) => pathname !== '/callback')),
    );
    endOnTheirOwnPage(plane, pages);
    expect((await attemptCookies(visitor)).length).toBeLessThanOrEqual(4);
  });

  async function openTabs(plane: SharedPlane, visitor: Visitor): Promise<Page[]> {
    const pages = await Promise.all(Array.from({ length: TABS }, () => visitor.newTab()));
    await Promise.all(pages.map((page, index) => page.goto(`${plane.url}/console/tab?n=${index}`)));
    return pages;
  }

  function endOnTheirOwnPage(plane: SharedPlane, pages: readonly Page[]): void {
    // Of the address of a failure page, no more than its path: the rest does not matter.
    expect(pages.map((page) => page.url().replace(/\?code=.*/, ''))).toEqual(
      pages.map((_page, index) => `${plane.url}/console/tab?n=${index}`),
    );
  }
});

async function attemptCookies(visitor: Visitor): Promise<string[]> {
  const names = await visitor.cookieNames('localhost');
  return names.filter((name) => ATTEMPT_COOKIE.test(name));
}

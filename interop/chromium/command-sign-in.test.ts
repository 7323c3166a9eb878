import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Home, makeHome, type UnderWay } from '../../conformance/cli/command.ts';
import { holdRedirectPort, REDIRECT_PORT } from '../../conformance/wire/redirect-port.ts';
import { CHROMIUM } from './chromium.ts';
import { auditPage } from './page-audit.ts';
import { openPlane, type SharedPlane } from './shared-plane.ts';
import { fillIn, Visitor } from './visitor.ts';

const CALLBACK = `http://localhost:${REDIRECT_PORT}/callback`;
const VIEWPORTS = [
  { width: 320, height: 640 },
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
];
/** What makes a page look like one of the house; the same expression is asked of both. */
const LOOK = `(() => {
  const style = (selector, names) => {
    const computed = getComputedStyle(document.querySelector(selector));
    return Object.fromEntries(names.map((name) => [name, computed[name]]));
  };
  return {
    body: style('body', ['backgroundColor', 'color', 'fontFamily', 'fontSize', 'lineHeight', 'placeItems']),
    main: style('main', ['backgroundColor', 'borderTopColor', 'borderRadius', 'maxWidth', 'padding', 'width']),
    h1: style('h1', ['color', 'fontSize', 'fontWeight', 'lineHeight', 'margin']),
    p: style('p', ['color', 'margin']),
    reason: style('.dim', ['color', 'fontSize', 'margin', 'padding', 'borderTopColor']),
    code: style('.dim code', ['backgroundColor', 'fontSize', 'padding']),
  };
})()`;

describe.skipIf(CHROMIUM.isLeftOut)('Chromium: sallyport login', () => {
  let giveBack: () => Promise<void>;
  let plane: SharedPlane;
  let home: Home;
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    plane = await openPlane();
  });
  beforeEach(async () => {
    // For one test at a time: files beside this one wait for the port, too.
    giveBack = await holdRedirectPort();
    home = makeHome();
    // All requests of the context are watched: it is no other test's.
    visitor = await Visitor.arrive({});
    page = await visitor.newTab();
  });
  afterEach(async () => {
    await giveBack();
    expect(visitor.complaints()).toEqual([]);
    await visitor.leave();
    home.remove();
  });

  /** Starts the command and opens the address it prints, as a person who copies it does. */
  async function begin(...options: string[]): Promise<UnderWay> {
    const login = home.start(['login', '--flow', 'pkce', '--no-browser', ...options]);
    const said = await login.says('waiting for the browser');
    await page.goto(/^ {2}(http\S+)$/m.exec(said)?.[1] ?? '');
    return login;
  }

  /** What the page asks for once the browser has left the identity provider. */
  function watchRequests(): string[] {
    const asked: string[] = [];
    visitor.context.on('request', (request) => {
      const { origin, pathname } = new URL(request.url());
      if (origin !== plane.issuer) asked.push(`${request.method()} ${origin}${pathname}`);
    });
    return asked;
  }

  async function expectReadable(): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const viewport of VIEWPORTS) {
        await page.setViewportSize(viewport);
        const { overflow, topHeadings, text, smallTargets } = await auditPage(page);
        const where = `${colorScheme}, ${viewport.width} px`;
        expect(overflow, where).toBe(0);
        expect(topHeadings, where).toBe(1);
        expect(text.contrast, `${where}: ${text.sample}`).toBeGreaterThanOrEqual(4.5);
        expect(smallTargets, where).toEqual([]);
      }
    }
  }

  it('signs ada in at the identity provider, and ends on a page that asks for nothing more', async () => {
    const login = await begin('--endpoint', plane.url);
    const asked = watchRequests();
    await fillIn(page, plane, 'ada');
    await page.getByRole('heading', { level: 1, name: 'You are signed in' }).waitFor();
    const { code, stderr } = await login.ended;
    expect([code, stderr]).toEqual([0, expect.stringContaining('as Ada Lovelace')]);
    await expectReadable();
    expect(asked).toEqual([`GET ${CALLBACK}`]);
    expect((await home.run(['whoami'])).stdout).toContain('ada@example.test');
  });

  it('over TLS with the authority that is named: a cancelled sign-in is reported in the browser and by the command, and no token is stored', async () => {
    const url = plane.url.replace('http:', 'https:');
    const login = await begin('--endpoint', url, '--ca-file', join(plane.state, 'tls', 'ca.pem'));
    const asked = watchRequests();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { level: 1, name: 'You are not signed in' }).waitFor();
    expect(await page.locator('main').textContent()).toContain('access_denied');
    const { code, stderr } = await login.ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('access_denied')]);
    await expectReadable();
    expect(asked).toEqual([`GET ${CALLBACK}`]);
    expect((await home.run(['token', '--no-login', '--endpoint', plane.url])).code).toBe(4);
  });

  it('shows an old tab that it is not waited for, and goes on in the newer one', async () => {
    const login = await begin('--endpoint', plane.url);
    const old = await visitor.open(`${CALLBACK}?code=old&state=old`);
    await old.getByRole('heading', { level: 1, name: 'This page is of another attempt' }).waitFor();
    const current = page;
    page = old;
    await expectReadable();
    page = current;
    await fillIn(page, plane, 'ada');
    await page.getByRole('heading', { level: 1, name: 'You are signed in' }).waitFor();
    expect((await login.ended).code).toBe(0);
  });

  it('its page for a failure looks like that of the platform, dark and light', async () => {
    const login = await begin('--endpoint', plane.url);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    await login.ended;
    const platform = await visitor.open(`${plane.url}/`);
    await platform.getByRole('button', { name: 'Cancel' }).click();
    await platform
      .getByRole('heading', { name: 'The identity provider did not sign you in' })
      .waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await platform.emulateMedia({ colorScheme });
      expect(await page.evaluate(LOOK)).toEqual(await platform.evaluate(LOOK));
    }
  });
});

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM } from './chromium.ts';
import { type ForeignSite, startForeignSite } from './foreign-site.ts';
import { signInByRequest } from './person.ts';
import { openPlane, type SharedPlane } from './shared-plane.ts';
import { Visitor } from './visitor.ts';

/** What stands on the page of the foreign site, and the request of ours it causes. */
const ATTACKS: readonly (readonly [string, string, string])[] = [
  ['an image', '/logout', '<img src="URL">'],
  ['a frame', '/logout', '<iframe src="URL"></iframe>'],
  [
    'a form sent into a frame',
    '/logout',
    '<iframe name="f"></iframe><form method="post" action="URL" target="f"></form><script>document.forms[0].submit()</script>',
  ],
  [
    'a fetch with credentials',
    '/logout',
    '<script>fetch("URL", { method: "POST", mode: "no-cors", credentials: "include" })</script>',
  ],
  [
    'a form sent by itself',
    '/logout',
    '<form method="post" action="URL"></form><script>document.forms[0].submit()</script>',
  ],
  [
    'a link that is followed',
    '/logout?redirect_url=%2Fhealthz',
    '<script>location = "URL"</script>',
  ],
];

/** The browser made the request, and then kept the answer from the foreign page or showed it. */
const ANSWERED = [
  undefined,
  'net::ERR_BLOCKED_BY_ORB',
  'net::ERR_BLOCKED_BY_RESPONSE',
  'net::ERR_ABORTED',
];

describe.skipIf(CHROMIUM.isLeftOut).each([
  ['another site', '127.0.0.1'],
  ['another origin of the same site, where SameSite does not help', 'localhost'],
] as const)('Chromium: the page of %s', (_name, host) => {
  let plane: SharedPlane;
  let foreign: ForeignSite;
  let visitor: Visitor;
  /** The tab in which the person looks at the foreign page. */
  let page: Page;
  beforeAll(async () => {
    [plane, foreign] = await Promise.all([openPlane(), startForeignSite(host)]);
    visitor = await Visitor.arrive();
    await signInByRequest(visitor, plane);
    page = await visitor.context.newPage();
  });
  afterAll(async () => {
    await visitor.leave();
    await foreign.close();
  });

  it.each(ATTACKS)('does not end the session by %s', async (_attack, path, markup) => {
    const before = await visitor.context.cookies(plane.url);
    const request = await attack(path, markup);
    expect(ANSWERED).toContain(request.failure()?.errorText);
    expect(await visitor.context.cookies(plane.url)).toEqual(before);
    await page.goto(`${plane.url}/console/still-here`);
    expect(page.url()).toBe(`${plane.url}/console/still-here`);
  });

  it('does not say that a person is signed out who is not', async () => {
    await attack(
      '/logout',
      '<form method="post" action="URL"></form><script>document.forms[0].submit()</script>',
    );
    await page.waitForURL(`${plane.url}/logout`);
    expect(await page.getByRole('heading').textContent()).toBe('Sign out?');
    await page.getByRole('link', { name: 'Stay signed in' }).click();
    await page.getByRole('heading', { name: 'Hello, Ada Lovelace' }).waitFor();
  });

  it('writes nothing by a form sent to a protected route', async () => {
    const request = await attack(
      '/console/projects',
      '<form method="post" action="URL"><input name="delete" value="all"></form><script>document.forms[0].submit()</script>',
    );
    const response = await request.response();
    expect(response?.status()).toBe(host === 'localhost' ? 403 : 401);
    expect(await page.getByText('Hello').count()).toBe(0);
  });

  it('reads nothing by a fetch or a frame', async () => {
    await page.goto(foreign.serve(''));
    for (const path of ['/me', '/auth/session', '/console/x']) {
      const outcome = await page.evaluate(
        `fetch('${plane.url}${path}', { credentials: 'include' }).then((r) => r.text(), () => 'blocked')`,
      );
      expect(outcome).toBe('blocked');
    }
    await page.goto(foreign.serve(`<iframe src="${plane.url}/console/x"></iframe>`));
    expect(await page.frameLocator('iframe').locator('#target').count()).toBe(0);
  });

  /** Shows the foreign page, and waits until the request it makes of us is over. */
  async function attack(path: string, markup: string) {
    const url = plane.url + path;
    const isAttack = (request: { url(): string }) => request.url() === url;
    const over = Promise.any([
      page.waitForEvent('requestfinished', isAttack),
      page.waitForEvent('requestfailed', isAttack),
    ]);
    await page.goto(foreign.serve(markup.replace('URL', url)));
    return over;
  }
});

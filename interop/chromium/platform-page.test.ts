import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsoleKey } from '../../packages/cli/src/console/console-key.ts';
import { createConsole } from '../../packages/cli/src/console/console-server.ts';
import type { ActorView } from '../../packages/cli/src/console/platform-view.ts';
import { CHROMIUM } from './chromium.ts';
import { Visitor } from './visitor.ts';

const OPERATOR: ActorView = {
  name: 'operator',
  plane: 'data plane',
  peer: 'cluster',
  protocol: 'Connect',
  readsFrom: 'union.auth',
  secret: 'cloud-secret-auth',
  secretFile: '/state/pods/operator/etc/union/secret/client_secret',
  folder: '/state/pods/operator',
  logFile: '/state/logs/operator.log',
  state: 'calling',
  clientId: 'service',
  knownAs: 'service',
  tokenEndsAt: Date.now() + 3_600_000,
  tokenSince: Date.now(),
  admitted: 3,
  withoutToken: '401',
  starts: 1,
  startsAgainAt: undefined,
  lastError: undefined,
};

describe.skipIf(CHROMIUM.isLeftOut)('Chromium: the page of the platform', () => {
  let server: Server;
  let visitor: Visitor;
  let page: Page;
  let shown: ActorView = OPERATOR;
  beforeAll(async () => {
    const key = createConsoleKey();
    const serve = createConsole({
      idpOrigin: 'http://127.0.0.1:1',
      key,
      viewPlatform: () => [shown],
    });
    server = createServer((request, response) => {
      // As the gateway says it.
      request.headers['x-user-subject'] = 'ada';
      request.headers['x-console-key'] = key;
      serve(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    visitor = await Visitor.arrive();
    page = await visitor.newTabWithClock();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/platform`);
  });
  afterAll(async () => {
    await visitor.leave();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const card = () => page.locator('#operator');
  const readAgain = () => page.clock.runFor(2_000);

  it('follows what happens without being loaded again: the error, and that it is over', async () => {
    await page.evaluate('window.isSamePage = true');
    expect(await card().locator('.error').isVisible()).toBe(false);
    const lastError = { words: '<b>no token</b>', since: Date.now(), until: undefined };
    shown = { ...OPERATOR, state: 'failing', tokenEndsAt: undefined, lastError };
    await readAgain();
    await card().locator('.error').waitFor();
    expect(await card().getAttribute('data-state')).toBe('failing');
    expect(await card().locator('.error').textContent()).toContain('<b>no token</b>');
    expect(await card().locator('progress').isVisible()).toBe(false);
    expect(await page.locator('#summary').textContent()).toBe('0 of 1 call their peers');
    expect(await page.locator('#failing a').getAttribute('href')).toBe('#operator');
    shown = { ...OPERATOR, lastError: { ...lastError, until: Date.now() } };
    await readAgain();
    await card().locator('.error.over').waitFor();
    expect(await card().locator('progress').isVisible()).toBe(true);
    expect(await page.locator('#failing').isVisible()).toBe(false);
    expect(await page.evaluate('window.isSamePage')).toBe(true);
    expect(visitor.complaints()).toEqual([]);
  });

  it('keeps what a person has opened, and says when it has lost its connection', async () => {
    await card().getByText('Its files').click();
    shown = { ...OPERATOR, admitted: 4 };
    await readAgain();
    await card().getByText('4 admitted').waitFor();
    expect(await card().getByText('/state/logs/operator.log').isVisible()).toBe(true);
    expect(await page.locator('#stale').isVisible()).toBe(false);
    await page.route('**/platform.json', (route) => route.abort());
    await readAgain();
    await page.locator('#stale').waitFor();
    await page.unroute('**/platform.json');
    await readAgain();
    await page.locator('#stale').waitFor({ state: 'hidden' });
  });
});

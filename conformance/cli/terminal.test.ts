import { createServer } from 'node:net';
import { join } from 'node:path';
import { isTaken } from '@sallyport/testing/wire/ports';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exchange } from '../wire/exchange.ts';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { type Home, makeHome } from './command.ts';
import { type FakePlatform, startFakePlatform } from './fake-platform.ts';
import { hasTerminal, renderScreen, startOnTerminal } from './screen.ts';
import { browserCommand, readRecord } from './scripted-browser.ts';

let clock: MovedClock;
beforeAll(async () => {
  clock = await startMovedClock({ movesTimers: true });
});
afterAll(() => clock.close());
let home: Home;
let platform: FakePlatform;
beforeEach(async () => {
  home = makeHome();
  platform = await startFakePlatform();
});
afterEach(async () => {
  await platform.close();
  home.remove();
});

const CTRL_C = '\u0003';
/** A browser that never comes back. */
const ABSENT = ['--browser', 'true'];
const SHOW_CURSOR = '\u001b[?25h';

describe.skipIf(!hasTerminal())("On a terminal (needs util-linux's script)", () => {
  const login = (...args: string[]): string[] => ['login', '--endpoint', platform.url, ...args];

  it('signs in by browser, and the screen is left tidy', async () => {
    const record = join(home.path, 'record');
    const terminal = startOnTerminal(home, login('--browser', browserCommand(record)));
    const { code, screen } = await terminal.ended;
    expect(code).toBe(0);
    expect(screen).toContain('Signed in to');
    expect(screen).toContain('Ada Lovelace');
    expect(screen).not.toContain('waiting for the browser');
    expect(terminal.raw().lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(
      terminal.raw().lastIndexOf('\u001b[?25l'),
    );
    expect(readRecord(record)).toHaveLength(2);
  });

  it('a browser that is named is opened', async () => {
    const terminal = startOnTerminal(home, login(...ABSENT));
    const screen = await terminal.shows('waiting for the browser');
    expect(screen).toContain('Opening the browser at');
    terminal.type(CTRL_C);
    expect((await terminal.ended).code).toBe(130);
  });

  it.each([
    ['over SSH', { DISPLAY: ':0', SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }],
    ['without a display', {}],
  ])('%s it uses a device code, and says why', async (_, environment) => {
    const { code, screen } = await startOnTerminal(home, login(), environment).ended;
    expect(code).toBe(0);
    expect(screen).toContain('WDJB-MJHT');
    expect(screen).toMatch(/Signing in with a device code: (?:this is|there is no display)/);
  });

  it('without device codes it prints the address and how to tunnel the callback', async () => {
    platform.hasDeviceCodes = false;
    const terminal = startOnTerminal(home, login(), { SSH_TTY: '/dev/pts/0' });
    const screen = await terminal.shows('waiting for the browser');
    expect(screen).toContain(`ssh -L ${platform.redirectPort}:localhost:${platform.redirectPort}`);
    expect(screen).toContain('Open this address');
    terminal.type(CTRL_C);
    expect((await terminal.ended).code).toBe(130);
  });

  it('takes a pasted callback address, and does not show it', async () => {
    const terminal = startOnTerminal(home, login('--flow', 'pkce', '--no-browser'));
    await terminal.shows('waiting for the browser');
    const url = /http:\/\/localhost:\d+\/authorize\?\S+/.exec(terminal.raw())?.[0] ?? '';
    const sent = await exchange(url);
    terminal.type('not an address\r');
    terminal.type(`${sent.location}\r`);
    const { code } = await terminal.ended;
    expect(code).toBe(0);
    const pasted = new URL(sent.location ?? '').searchParams.get('code') ?? '';
    expect(terminal.raw()).not.toContain(pasted);
  });

  it('d goes over to a device code, and the port is given back', async () => {
    platform.pollsUntilConfirmed = 1_000;
    const terminal = startOnTerminal(home, login(...ABSENT));
    await terminal.shows('waiting for the browser');
    terminal.type('d');
    await terminal.shows('WDJB-MJHT');
    expect(await isTaken(platform.redirectPort)).toBe(false);
    platform.pollsUntilConfirmed = 0;
    expect((await terminal.ended).code).toBe(0);
  });

  it('after 20 seconds without a callback it offers a device code', async () => {
    const terminal = startOnTerminal(home, login(...ABSENT), clock.environment);
    await terminal.shows('waiting for the browser');
    await clock.advance(10_000);
    expect(renderScreen(terminal.raw())).not.toContain('Press d');
    await clock.advance(10_000);
    await terminal.shows('No browser? Press d for a device code.');
    terminal.type('d');
    expect((await terminal.ended).code).toBe(0);
  });

  it('a redirect port that another process has leads to a device code', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) =>
      holder.listen(platform.redirectPort, '127.0.0.1', resolve),
    );
    const { code, screen } = await startOnTerminal(home, login(...ABSENT)).ended;
    await new Promise<void>((resolve) => holder.close(() => resolve()));
    expect(code).toBe(0);
    expect(screen).toContain('Going on with a device code instead');
  });

  it('--qr draws the address when it fits, and not when it would wrap', async () => {
    const wide = await startOnTerminal(home, login('--flow', 'device', '--qr')).ended;
    expect(wide.screen).toMatch(/[\u2580-\u259f]/);
    const narrow = await startOnTerminal(home, login('--flow', 'device', '--qr'), {}, 20).ended;
    expect([narrow.code, /[\u2580-\u259f]/.test(narrow.screen)]).toEqual([0, false]);
    const without = await startOnTerminal(home, login('--flow', 'device')).ended;
    expect(without.screen).not.toMatch(/[\u2580-\u259f]/);
  });

  it('token signs in where there is a terminal; with --no-login, and in CI, it does not', async () => {
    const args = ['token', '--endpoint', platform.url];
    const refused = await startOnTerminal(home, [...args, '--no-login']).ended;
    expect(refused.code).toBe(4);
    const inCi = await startOnTerminal(home, args, { CI: 'true' }).ended;
    expect(inCi.code).toBe(4);
    expect(platform.count('/device')).toBe(0);
    const { code, screen } = await startOnTerminal(home, args).ended;
    expect(code).toBe(0);
    expect(screen).toMatch(/access-canary-/);
  });

  it('Ctrl-C leaves no listener, no token and a terminal as it was', async () => {
    const terminal = startOnTerminal(home, login('--flow', 'pkce', '--no-browser'));
    await terminal.shows('waiting for the browser');
    terminal.type(CTRL_C);
    const { code, screen } = await terminal.ended;
    expect(code).toBe(130);
    expect(screen).not.toContain('waiting for the browser');
    expect(terminal.raw()).toContain(SHOW_CURSOR);
    expect(await isTaken(platform.redirectPort)).toBe(false);
  });
});

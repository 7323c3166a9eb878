/**
 * What tests of the command begin with: for a file one process for all its commands, for each test a home of
 * its own, and a platform. The bindings change with each test.
 *
 * @module
 */

import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type MovedClock, startMovedClock } from '../wire/moved-clock.ts';
import { PATIENCE } from '../wire/workers.ts';
import { type Ended, type Home, makeHome } from './command.ts';
import { type CommandHost, createCommandHost } from './command-host.ts';
import { type FakePlatform, startFakePlatform } from './fake-platform.ts';
import { readRecord } from './scripted-browser.ts';

/** What the browser writes down: the address it is given, and where that ends. */
const PAGES = 2;

/** The home of the running test, and of the hooks around all tests of a file. */
export let home: Home;
/** The platform of the running test. */
export let platform: FakePlatform;
/** Followed by the commands of the file, their timers too. */
export let clock: MovedClock;
let host: CommandHost;

/** Gives the calling file a host and a clock, and each of its tests a home whose commands run there. */
export function useHome(): void {
  beforeAll(async () => {
    clock = await startMovedClock({ movesTimers: true });
    host = createCommandHost(clock);
    home = makeHome(host);
  });
  afterAll(async () => {
    home.remove();
    host.stop();
    await clock.close();
  });
  beforeEach(() => {
    home.remove();
    home = makeHome(host);
  });
}

/** The same, and each test a platform. */
export function useHomeAndPlatform(): void {
  useHome();
  beforeEach(async () => {
    platform = await startFakePlatform();
  });
  afterEach(() => platform.close());
}

/** Runs a command that opens the scripted browser; the browser has left when this resolves. */
export async function runWithBrowser(record: string, args: readonly string[]): Promise<Ended> {
  const pages = readRecord(record).length + PAGES;
  const ended = await home.run(args);
  await expect.poll(() => readRecord(record).length, PATIENCE).toBe(pages);
  return ended;
}

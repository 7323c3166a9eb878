/**
 * A real Chromium, started the way a person has it.
 *
 * @module
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type LaunchOptions } from 'playwright-core';
import { findPart, type Part, requirePart } from '../parts.ts';

/** The browser, where it is installed. */
export const CHROMIUM: Part = findPart('chromium');

let running: Promise<Browser> | undefined;

/** Contexts that tests have given back; making one costs half a second of processor time. */
const givenBack: BrowserContext[] = [];

/** Starts the browser with the first file of a worker, and ends it with the worker. */
export function openChromium(): Promise<Browser> {
  running ??= launchForWorker();
  return running;
}

/** A context without pages, cookies and kept answers: one that was given back, or a new one. */
export async function takeContext(): Promise<BrowserContext> {
  return givenBack.pop() ?? (await openChromium()).newContext();
}

/** Empties a context of {@link takeContext} for the next test. */
export async function giveBackContext(context: BrowserContext): Promise<void> {
  const pages = context.pages();
  const [last] = pages;
  if (last !== undefined) {
    const session = await context.newCDPSession(last);
    await session.send('Network.clearBrowserCache');
  }
  await Promise.all(pages.map((page) => page.close()));
  await context.clearCookies();
  givenBack.push(context);
}

/** A worker is ended by SIGTERM; only an exit ends the browser and removes its profile. */
async function launchForWorker(): Promise<Browser> {
  process.once('SIGTERM', () => process.exit(0));
  return chromium.launch({ ...launchOptions(), handleSIGTERM: false });
}

/**
 * Starts a browser that refuses the cookies of one host and keeps all others, as its settings allow.
 *
 * @param profile - An empty folder for the settings.
 */
export async function launchWithoutCookiesOf(
  host: string,
  profile: string,
): Promise<BrowserContext> {
  const BLOCK = 2;
  const cookies = { [`${host},*`]: { setting: BLOCK } };
  mkdirSync(join(profile, 'Default'));
  writeFileSync(
    join(profile, 'Default', 'Preferences'),
    JSON.stringify({ profile: { content_settings: { exceptions: { cookies } } } }),
  );
  return chromium.launchPersistentContext(profile, launchOptions());
}

/** Asks no service of the vendor's, and runs as root in a container. */
function launchOptions(): LaunchOptions {
  return {
    executablePath: requirePart(CHROMIUM),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Tabs share processes: twenty of their own would be the machine's test, not the product's.
      '--renderer-process-limit=4',
    ],
    // People's browsers have it, and it could bring back a page from before a sign-out.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  };
}

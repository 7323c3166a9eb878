/**
 * A person in front of the plane: tabs that share cookies, and whose pages are watched.
 *
 * @module
 */

import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { giveBackContext, openChromium, takeContext } from './chromium.ts';
import type { Login } from './person.ts';
import type { SharedPlane } from './shared-plane.ts';

const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) =>
  console.error('policy violated: ' + event.violatedDirective + ' ' + event.blockedURI));`;

/** One browser context. */
export class Visitor {
  readonly context: BrowserContext;
  readonly #complaints: { readonly text: string; readonly url: string }[] = [];
  /** URLs whose 4xx or 5xx is part of the flow. */
  readonly #refusals = new Set<string>();
  /** Whether the context is as any other: no options, and no clock of its own. */
  #isPlain: boolean;

  constructor(context: BrowserContext, isPlain = false) {
    this.context = context;
    this.#isPlain = isPlain;
  }

  /** A person with nothing kept in the browser. */
  static async arrive(options?: BrowserContextOptions): Promise<Visitor> {
    return options === undefined
      ? new Visitor(await takeContext(), true)
      : new Visitor(await (await openChromium()).newContext(options));
  }

  /** Opens an empty tab, whose clock the test moves with `page.clock`. */
  async newTabWithClock(): Promise<Page> {
    // The clock is one of all tabs, and stays.
    this.#isPlain = false;
    const page = await this.newTab();
    await page.clock.install();
    return page;
  }

  /** Opens an empty tab; what its pages complain about is kept for {@link complaints}. */
  async newTab(): Promise<Page> {
    const page = await this.context.newPage();
    await page.addInitScript(REPORT_VIOLATIONS);
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        this.#complaints.push({ text: message.text(), url: message.location().url });
    });
    page.on('pageerror', ({ message }) =>
      this.#complaints.push({ text: message, url: page.url() }),
    );
    page.on('response', (response) => {
      if (response.request().isNavigationRequest()) this.#refusals.add(response.url());
    });
    return page;
  }

  /** Opens a tab on an address, and waits until it is shown. */
  async open(url: string): Promise<Page> {
    const page = await this.newTab();
    await page.goto(url);
    return page;
  }

  /** Says that a page's own request to this URL is refused in this flow. */
  expectRefusal(url: string): void {
    this.#refusals.add(url);
  }

  /**
   * Script errors, console errors and breaches of a content security policy. That a navigation was
   * answered with 4xx or 5xx is none: the browser logs it, and the page shows it.
   */
  complaints(): string[] {
    return this.#complaints
      .filter(({ text, url }) => !this.#isRefusal(text, url))
      .map(({ text, url }) => `${text} (${url})`);
  }

  /** The browser reports a refusal by its status, and that of a script once more by its type (`nosniff`). */
  #isRefusal(text: string, url: string): boolean {
    if (text.startsWith('Failed to load resource: the server responded'))
      return this.#refusals.has(url);
    const script = /^Refused to execute script from '([^']*)' because its MIME type/.exec(
      text,
    )?.[1];
    return script !== undefined && this.#refusals.has(script);
  }

  /** Names of the cookies kept for a host. */
  async cookieNames(host: string): Promise<string[]> {
    const cookies = await this.context.cookies();
    return cookies.filter(({ domain }) => domain === host).map(({ name }) => name);
  }

  async leave(): Promise<void> {
    await (this.#isPlain ? giveBackContext(this.context) : this.context.close());
  }
}

/** Fills in and sends the form of the IdP that the page shows. */
export async function fillIn(page: Page, plane: SharedPlane, login: Login): Promise<void> {
  await page.getByLabel('User name').fill(login);
  await page.getByLabel('Password').fill(plane.password(login));
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Types the credentials into the IdP's page that is open, and waits for the page behind the door. */
export async function typeCredentials(
  page: Page,
  plane: SharedPlane,
  login: Login = 'ada',
): Promise<void> {
  await fillIn(page, plane, login);
  await page.waitForURL((url) => url.origin === plane.url && url.pathname !== '/callback');
}

/** Opens an address of the plane in a new tab, and signs in on the way. */
export async function signIn(visitor: Visitor, plane: SharedPlane, path = '/'): Promise<Page> {
  const page = await visitor.open(plane.url + path);
  await typeCredentials(page, plane);
  return page;
}

/** Whether the session's state stands on the console's page: its script has asked. */
export async function waitForConsole(page: Page): Promise<void> {
  await page.locator('#age').filter({ hasText: /\d/ }).waitFor();
}

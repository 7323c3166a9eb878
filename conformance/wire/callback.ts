/**
 * The steps of tests of `/callback`, bound to one service.
 *
 * @module
 */

import { expect } from 'vitest';
import { Browser } from './browser.ts';
import type { Service } from './platform.ts';
import { askMe, type OpenedSignIn, openSignIn } from './sign-in.ts';

/** Where the sign-ins of these tests lead. */
const WANTED = '/wanted?x=1';

/** What {@link bindCallback} gives. */
export interface CallbackSteps {
  /** Opens a sign-in, to the page that is wanted when no other is named. */
  open(path?: string, browser?: Browser): Promise<OpenedSignIn>;
  /** The address of the callback with a query. */
  callback(query: URLSearchParams | string): string;
  /** What `/me` answers a browser. */
  me(browser: Browser): Promise<number>;
  /** The sign-in that was disturbed still ends where it should. */
  expectHonest(opened: OpenedSignIn): Promise<void>;
}

/** Binds the steps to a service that starts later. */
export function bindCallback(service: () => Service): CallbackSteps {
  const callback = (query: URLSearchParams | string) =>
    `${service().url}/callback?${query.toString()}`;
  return {
    open: (path = WANTED, browser = new Browser()) => openSignIn(service(), path, browser),
    callback,
    me: (browser) => askMe(service(), browser),
    async expectHonest({ browser, query }) {
      const ended = await browser.step(callback(query));
      expect(ended.status).toBe(302);
      expect(ended.location).toBe(service().url + WANTED);
      expect(await askMe(service(), browser)).toBe(200);
    },
  };
}

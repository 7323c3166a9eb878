/**
 * A sign-in taken apart: what the browser was sent with, and what it is to come back with.
 *
 * @module
 */

import type { Lie, SeenRequest } from '@sallyport/testing/idp/fake-idp';
import { expect } from 'vitest';
import { Browser } from './browser.ts';
import type { Received } from './exchange.ts';
import type { Service } from './platform.ts';

/** Names of the cookies on plain http. */
export const SESSION_COOKIE = 'core_session';
/** The first of four slots. */
export const ATTEMPT_COOKIE = 'core_login_0';

/** A sign-in up to the IdP's answer, which no browser has brought to the callback yet. */
export interface OpenedSignIn {
  readonly browser: Browser;
  /** The answer of `/login`. */
  readonly login: Received;
  /** The query of the callback. */
  readonly query: URLSearchParams;
}

/** Opens `/login` and plays the IdP's part. */
export async function openSignIn(
  service: Service,
  path: string,
  browser: Browser = new Browser(),
  lie: Lie = {},
): Promise<OpenedSignIn> {
  const login = await browser.step(`${service.url}/login?redirect_url=${encodeURIComponent(path)}`);
  return { browser, login, query: service.idp.authorize(login.location ?? '', lie) };
}

/** Signs in with a browser of its own. */
export async function signInBrowser(service: Service): Promise<Browser> {
  const browser = new Browser();
  await service.signIn(browser);
  return browser;
}

/** Posts the sign-out of a page of the platform itself. */
export function signOut(service: Service, browser: Browser, query = ''): Promise<Received> {
  return browser.step(`${service.url}/logout${query}`, {
    form: {},
    headers: { origin: service.url, 'sec-fetch-site': 'same-origin' },
  });
}

/** Client ID and secret of a request's Basic credential, form-encoded each (RFC 6749 section 2.3.1). */
export function basicOf({ headers }: SeenRequest): readonly string[] {
  const [, encoded = ''] = /^Basic (\S+)$/.exec(headers.authorization ?? '') ?? [];
  return Buffer.from(encoded, 'base64').toString().split(':').map(decodeURIComponent);
}

/** Whether an answer sets a session cookie. */
export function beginsSession({ setCookies }: Received): boolean {
  return setCookies.some(
    (line) => line.startsWith(`${SESSION_COOKIE}=`) && !line.startsWith(`${SESSION_COOKIE}=;`),
  );
}

/** What `/me` answers a browser. */
export async function askMe(service: Service, browser: Browser): Promise<number> {
  return (await browser.step(`${service.url}/me`)).status;
}

/** The page of a failure, with nothing given away beside it. */
export function expectFailurePage(received: Received, reason: string, status: number): void {
  expect(/Reason <code>(\w+)<\/code>/.exec(received.body)?.[1]).toBe(reason);
  expect(received.status).toBe(status);
  expect(received.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(received.headers['cache-control']).toBe('no-store');
  expect(received.headers['referrer-policy']).toBe('no-referrer');
  expect(received.headers['x-content-type-options']).toBe('nosniff');
  const policy = received.headers['content-security-policy'];
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe-|script-src/);
  expect(beginsSession(received)).toBe(false);
}

/** A sign-in without a lie goes through. */
export async function expectSignsIn(service: Service, browser: Browser): Promise<void> {
  const honest = await service.signIn(browser, '/wanted');
  expect([honest.status, honest.location]).toEqual([302, `${service.url}/wanted`]);
  expect(await askMe(service, browser)).toBe(200);
}

/** A sign-in with this lie goes through as well. */
export async function expectAccepted(service: Service, lie: Lie): Promise<void> {
  const browser = new Browser();
  const received = await service.signIn(browser, '/wanted', lie);
  expect([received.status, received.location]).toEqual([302, `${service.url}/wanted`]);
  expect(await askMe(service, browser)).toBe(200);
}

const STATUS = {
  token_invalid: 502,
  idp_unreachable: 503,
  idp_refused: 403,
  misconfigured: 500,
} as const;

/**
 * A lie ends on a page: no session, no cookie left, nothing of a token on the page or in the log; and
 * the next sign-in of the same browser goes through.
 */
export async function expectRefused(
  service: Service,
  lie: Lie,
  reason: keyof typeof STATUS = 'token_invalid',
): Promise<Received> {
  const browser = new Browser();
  let token = '';
  const received = await service.signIn(browser, '/wanted', {
    ...lie,
    forge: async (forgery) => {
      token = await (lie.forge?.(forgery) ?? service.idp.honest(forgery));
      return token;
    },
  });
  expectFailurePage(received, reason, STATUS[reason]);
  expect(browser.cookieNames('localhost')).toEqual([]);
  expect(await askMe(service, browser)).toBe(401);
  for (const secret of [token, 'access-token-of-ada', 'refresh-token-of-ada']) {
    if (secret.length < 16) continue;
    expect(received.body).not.toContain(secret);
    expect(service.running.stderr()).not.toContain(secret);
  }
  await expectSignsIn(service, browser);
  return received;
}

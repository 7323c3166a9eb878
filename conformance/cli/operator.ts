/**
 * People who are signed in at a running server, and the operator's command beside it.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Browser } from '../wire/browser.ts';
import type { Service } from '../wire/platform.ts';
import { expectRefusedSoon as expectStatusesSoon } from '../wire/refused-soon.ts';
import { askMe, SESSION_COOKIE } from '../wire/sign-in.ts';

/** Two browsers. */
export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
export const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36';

/** A person as the identity provider describes them. */
export type Person = { readonly sub: string } & Readonly<Record<string, unknown>>;
export const ADA: Person = {
  sub: 'ada',
  name: 'Ada Lovelace',
  email: 'ada@example.test',
  email_verified: true,
};
export const GRACE: Person = { sub: 'grace', name: 'Grace Hopper', preferred_username: 'grace' };

/** What `sessions list --json` says. */
export interface ListDocument {
  readonly ok: boolean;
  readonly sessions: readonly ListedSession[];
  readonly more: boolean;
}

/** One of its sessions. */
export interface ListedSession {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly preferred_username: string;
  readonly signed_in_at: string;
  readonly last_used_at: string;
  readonly ends_at: string;
  readonly absolute_end: string;
  readonly address: string;
  readonly browser: string;
}

/** The variables that `serve` was started with: the command reads the same configuration. */
export function variables(service: Service): Record<string, string> {
  return {
    PUBLIC_URL: service.url,
    OIDC_BASE_URL: service.idp.issuer,
    OIDC_CLIENT_ID: 'web-client',
    CLI_CLIENT_ID: 'cli-client',
    SALLYPORT_STATE_DIRECTORY: service.state,
  };
}

/** Signs a person in, in a browser of that name; the server remembers the session from then on. */
export async function signIn(
  service: Service,
  person: Person,
  userAgent: string,
): Promise<Browser> {
  const browser = new Browser();
  const headers = { 'user-agent': userAgent };
  const sent = await browser.step(`${service.url}/login`, { headers });
  const answer = service.idp.authorize(sent.location ?? '', {
    userInfo: person,
    forge: (forgery) =>
      service.idp.honest({ ...forgery, claims: { ...forgery.claims, sub: person.sub } }),
  });
  const received = await browser.step(`${service.url}/callback?${answer.toString()}`, { headers });
  expect(received.status).toBe(302);
  expect([await askMe(service, browser), await askMe(service, browser)]).toEqual([200, 200]);
  return browser;
}

/** The session cookie's value. */
export function cookieOf(browser: Browser): string {
  return browser.cookie('localhost', SESSION_COOKIE) ?? '';
}

/** The session's id. */
export function idOf(browser: Browser): string {
  return cookieOf(browser).slice(0, 8);
}

/** Waits for the refusal; a second is what is promised. */
export async function expectRefusedSoon(service: Service, browser: Browser): Promise<void> {
  await expectStatusesSoon(async () => [await askMe(service, browser)]);
}

/** Keys of the server's key ring. */
export function ringKeys(service: Service): string[] {
  const text = readFileSync(join(service.state, 'key-ring.json'), 'utf8');
  return (JSON.parse(text) as { keys: { key: string }[] }).keys.map(({ key }) => key);
}

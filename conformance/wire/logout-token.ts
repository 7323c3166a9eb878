/**
 * Logout tokens (OpenID Connect Back-Channel Logout), honest and forged, and the endpoint they go to.
 *
 * @module
 */

import { randomUUID } from 'node:crypto';
import type { FakeIdp, Lie } from '@sallyport/testing/idp/fake-idp';
import { expect } from 'vitest';
import { Browser } from './browser.ts';
import { exchange, type Received } from './exchange.ts';
import { HONEST_HEADER, rs256, type Signer, signed, writeJws } from './forge.ts';
import { type Service, WEB_CLIENT_ID } from './platform.ts';
import { askMe, beginsSession } from './sign-in.ts';

/** Path of the endpoint. */
export const LOGOUT_PATH = '/auth/backchannel-logout';
/** The event that makes a token a logout token. */
export const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** What is changed of an honest token; a claim or header that is `undefined` is left out. */
export interface LogoutForgery {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** The IdP's own key when absent. */
  readonly sign?: Signer;
  /** Changes the payload as text. */
  readonly rewrite?: (json: string) => string;
}

/** Claims of an honest token that is issued now, without a subject and a session. */
function logoutClaims(issuer: string): Readonly<Record<string, unknown>> {
  const now = Math.floor(Date.now() / 1_000);
  return {
    iss: issuer,
    aud: WEB_CLIENT_ID,
    iat: now,
    exp: now + 120,
    jti: randomUUID(),
    events: { [LOGOUT_EVENT]: {} },
  };
}

/** Makes a logout token of the test's IdP. */
export function forgeLogoutToken(
  { issuer, signingKey }: Pick<FakeIdp, 'issuer' | 'signingKey'>,
  { claims = {}, header = {}, sign = rs256(signingKey), rewrite = (json) => json }: LogoutForgery,
): Promise<string> {
  const payload = rewrite(JSON.stringify({ ...logoutClaims(issuer), ...claims }));
  return writeJws({ ...HONEST_HEADER, typ: 'logout+jwt', ...header }, payload, sign);
}

/** Posts a form as an IdP does. */
export function postLogout(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'POST',
): Promise<Received> {
  return exchange(url + LOGOUT_PATH, {
    method,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    },
    body,
  });
}

/** Posts one token. */
export function sendLogoutToken(url: string, token: string): Promise<Received> {
  return postLogout(url, `logout_token=${token}`);
}

/** What the IdP gives in the sign-in of a subject, in a session of its own. */
export function signInOf(sub: string, sid?: string): Lie {
  return {
    forge: signed({ sub, ...(sid === undefined ? {} : { sid }) }),
    userInfo: { sub, name: sub },
  };
}

let people = 0;

/** A person whom no other test uses, and their session at the IdP. */
export function nextPerson(): { readonly sub: string; readonly sid: string } {
  people += 1;
  return { sub: `person-${people}`, sid: `session-${people}` };
}

/** Signs a person in, and asks once, so that the service remembers the session. */
export async function signInAs(service: Service, sub: string, sid?: string): Promise<Browser> {
  const browser = new Browser();
  const received = await service.signIn(browser, '/', signInOf(sub, sid));
  expect(beginsSession(received)).toBe(true);
  expect(await askMe(service, browser)).toBe(200);
  return browser;
}

/** Sends a token with these claims. */
export async function logout(
  service: Service,
  claims: Readonly<Record<string, unknown>>,
  forgery: Omit<LogoutForgery, 'claims'> = {},
): Promise<Received> {
  return sendLogoutToken(service.url, await forgeLogoutToken(service.idp, { ...forgery, claims }));
}

/** Section 2.8: 200 without a body. */
export function expectDone({ status, body, headers }: Received): void {
  expect([status, body]).toEqual([200, '']);
  expect(headers['cache-control']).toBe('no-store');
}

/** Section 2.8: 400 with an OAuth error that repeats nothing of the request. */
export function expectInvalid({ status, body, headers }: Received): void {
  expect(status).toBe(400);
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['content-type']).toBe('application/json');
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['retry-after']).toBeUndefined();
  const { error, error_description: description, ...rest } = JSON.parse(body);
  expect([error, rest]).toEqual(['invalid_request', {}]);
  expect([
    'The logout token is not accepted',
    'A form with one logout_token is expected',
  ]).toContain(description);
}

/** One of the two: 400 for good, or to be tried again. */
export function expectNotAccepted(received: Received): void {
  if (received.headers['retry-after'] === undefined) expectInvalid(received);
  else expectFailed(received);
}

/** Section 2.8: 400 also for a logout that failed, which may be tried again. */
export function expectFailed({ status, body, headers }: Received): void {
  expect([status, JSON.parse(body).error]).toEqual([400, 'temporarily_unavailable']);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  expect(headers['cache-control']).toBe('no-store');
}

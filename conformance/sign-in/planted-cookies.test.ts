import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser, NAVIGATION } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { type Service, startHostedService } from '../wire/platform.ts';
import {
  ATTEMPT_COOKIE,
  beginsSession,
  openSignIn,
  SESSION_COOKIE,
  signInBrowser,
  signOut,
} from '../wire/sign-in.ts';

/** As many as a browser keeps for a site and its sibling domains, the real one left out. */
const PLANTED = 179;

/** A value that could be a session, and is none. */
function unknownSession(): string {
  const secret = randomBytes(32).toString('base64url');
  return `${randomBytes(6).toString('base64url')}.${secret}`;
}

/** Cookies of one name, those planted in front of, behind and around the real one. */
const PLACES: readonly (readonly [string, (planted: string[], real: string) => string[]])[] = [
  ['in front of', (planted, real) => [...planted, real]],
  ['behind', (planted, real) => [real, ...planted]],
  ['around', (planted, real) => planted.toSpliced(planted.length / 2, 0, real)],
];

describe('Where the name of a cookie has no __Host- prefix, planted ones', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  const signedIn = async () => {
    const browser = await signInBrowser(service);
    return browser.cookie('localhost', SESSION_COOKIE) ?? '';
  };
  const ask = (path: string, name: string, values: readonly string[], headers: object = {}) =>
    exchange(service.url + path, {
      headers: {
        ...NAVIGATION,
        cookie: values.map((value) => `${name}=${value}`).join('; '),
        ...headers,
      },
    });
  const me = async (values: readonly string[]) => (await ask('/me', SESSION_COOKIE, values)).status;
  const planted = (count = PLANTED) => Array.from({ length: count }, unknownSession);

  describe.each(PLACES)('%s the real one', (_, place) => {
    it.each([16, PLANTED])('leave a person signed in: %i of them', async (count) => {
      const real = await signedIn();
      expect(await me(place(planted(count), real))).toBe(200);
      const login = await ask(
        '/login?redirect_url=/x',
        SESSION_COOKIE,
        place(planted(count), real),
      );
      expect([login.status, login.location]).toEqual([302, `${service.url}/x`]);
    });

    it('do not keep a session from ending by a sign-out', async () => {
      const real = await signedIn();
      const headers = { origin: service.url, 'sec-fetch-site': 'same-origin' };
      const cookie = place(planted(), real)
        .map((value) => `${SESSION_COOKIE}=${value}`)
        .join('; ');
      await exchange(`${service.url}/logout`, {
        method: 'POST',
        headers: { ...NAVIGATION, ...headers, cookie },
      });
      expect(await me([real])).toBe(401);
    });

    it('that have ended, or have a wrong secret for its id, leave a person signed in', async () => {
      const [ended, real] = [await signedIn(), await signedIn()];
      await exchange(`${service.url}/logout`, {
        method: 'POST',
        headers: { ...NAVIGATION, origin: service.url, cookie: `${SESSION_COOKIE}=${ended}` },
      });
      const wrong = Array.from({ length: 20 }, () => real.slice(0, 9) + unknownSession().slice(9));
      expect(await me(place([ended, ...wrong, ended], real))).toBe(200);
    });

    it('that belong to other sign-ins leave this one to be finished', async () => {
      const { browser, query } = await openSignIn(service, '/wanted', new Browser());
      const real = browser.cookie('localhost', ATTEMPT_COOKIE) ?? '';
      const others = await Promise.all(
        Array.from({ length: 40 }, async () =>
          (await openSignIn(service, '/', new Browser())).browser.cookie(
            'localhost',
            ATTEMPT_COOKIE,
          ),
        ),
      );
      const values = place(
        others.map((value) => value ?? ''),
        real,
      );
      const received = await ask(`/callback?${query}`, ATTEMPT_COOKIE, values);
      expect(received.location).toBe(`${service.url}/wanted`);
      expect(beginsSession(received)).toBe(true);
    });
  });

  it('alone are refused', async () => {
    expect(await me(planted())).toBe(401);
    expect(await me(planted(1))).toBe(401);
  });
});

describe('The id of a session that has ended, with another secret,', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  it('gets the answer of an unknown id; its own cookie gets the reason of the end', async () => {
    const browser = await signInBrowser(service);
    const ended = browser.cookie('localhost', SESSION_COOKIE) ?? '';
    await signOut(service, browser);
    for (const path of ['/me', '/auth/session', '/auth/account', '/login?redirect_url=/x']) {
      for (const accept of ['application/json', NAVIGATION.accept]) {
        const ask = async (value: string) => {
          const headers = {
            accept,
            cookie: `${SESSION_COOKIE}=${value}`,
            'x-request-id': 'request-1',
          };
          const {
            status,
            headers: answered,
            body,
          } = await exchange(service.url + path, { headers });
          // What every sign-in draws anew.
          const { date: _date, location, 'set-cookie': cookies, ...rest } = answered;
          return { status, body, rest, leadsTo: location?.split('?')[0], cookies: cookies?.length };
        };
        const wrong = await ask(ended.slice(0, 9) + unknownSession().slice(9));
        expect(wrong).toEqual(await ask(unknownSession()));
        expect(wrong.body).not.toContain('signed_out');
      }
    }
    const own = await exchange(`${service.url}/me`, {
      headers: { accept: 'application/json', cookie: `${SESSION_COOKIE}=${ended}` },
    });
    expect([own.status, JSON.parse(own.body).reason]).toEqual([401, 'signed_out']);
  });
});

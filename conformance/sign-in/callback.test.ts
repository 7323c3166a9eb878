import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser, NAVIGATION, nextAddress } from '../wire/browser.ts';
import { bindCallback } from '../wire/callback.ts';
import { exchange, type Received } from '../wire/exchange.ts';
import {
  type Service,
  startHostedService,
  WEB_CLIENT_ID,
  WEB_CLIENT_SECRET,
} from '../wire/platform.ts';
import {
  ATTEMPT_COOKIE,
  beginsSession,
  expectFailurePage,
  type OpenedSignIn,
  SESSION_COOKIE,
} from '../wire/sign-in.ts';

describe('The answer of the IdP at /callback', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  const { open, callback, me, expectHonest } = bindCallback(() => service);

  describe('that is as it should be', () => {
    let opened: OpenedSignIn;
    let ended: Received;
    let authorize: URL;
    let form: URLSearchParams;
    beforeAll(async () => {
      opened = await open();
      authorize = new URL(opened.login.location ?? '');
      ended = await opened.browser.step(callback(opened.query));
      form = service.idp.tokenForms.at(-1) ?? new URLSearchParams();
    });

    it('becomes a session cookie and a 302 to the original URL', () => {
      expect(ended.status).toBe(302);
      expect(ended.location).toBe(`${service.url}/wanted?x=1`);
      const [session, ...more] = ended.setCookies.filter((line) => line.startsWith(SESSION_COOKIE));
      expect(more).toEqual([]);
      expect(session).toMatch(
        /^core_session=[\w-]{8}\.[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
      );
      expect(ended.headers['cache-control']).toBe('no-store');
      expect(ended.headers['referrer-policy']).toBe('no-referrer');
    });

    it('clears the attempt cookie', () => {
      expect(ended.setCookies).toContain(
        `${ATTEMPT_COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`,
      );
      expect(opened.browser.cookieNames('localhost')).toEqual([SESSION_COOKIE]);
    });

    it('is exchanged with the PKCE verifier of the S256 challenge that went to the IdP', () => {
      const verifier = form.get('code_verifier') ?? '';
      expect(verifier).toMatch(/^[\w.~-]{43,128}$/);
      expect(authorize.searchParams.get('code_challenge_method')).toBe('S256');
      expect(authorize.searchParams.get('code_challenge')).toBe(
        createHash('sha256').update(verifier).digest('base64url'),
      );
      expect(authorize.href).not.toContain(verifier);
    });

    it('is exchanged with the same redirect_uri as at the authorize endpoint, byte for byte', () => {
      expect(authorize.searchParams.get('redirect_uri')).toBe(`${service.url}/callback`);
      expect(form.get('redirect_uri')).toBe(`${service.url}/callback`);
      expect(form.get('grant_type')).toBe('authorization_code');
      expect(form.get('code')).toBe(opened.query.get('code'));
    });

    it('is exchanged with the client secret in the Basic header alone', () => {
      const request = service.idp.requests.findLast(({ path }) => path === '/token');
      const [scheme, credentials = ''] = (request?.headers.authorization ?? '').split(' ');
      expect(scheme).toBe('Basic');
      const [id = '', secret = ''] = Buffer.from(credentials, 'base64').toString().split(':');
      // RFC 6749 section 2.3.1: both are form-encoded first.
      const decoded = [...new URLSearchParams(`id=${id}&secret=${secret}`).values()];
      expect(decoded).toEqual([WEB_CLIENT_ID, WEB_CLIENT_SECRET]);
      expect(form.has('client_secret')).toBe(false);
    });

    it('brings no header of the browser to the IdP', async () => {
      const { browser, query } = await open();
      await browser.step(callback(query), {
        headers: { 'x-canary': 'canary-of-a-browser', 'user-agent': 'canary-of-a-browser' },
      });
      const seen = JSON.stringify(service.idp.requests.map(({ headers }) => headers));
      expect(seen).toContain('Basic ');
      expect(seen).not.toContain('canary-of-a-browser');
      expect(seen).not.toContain('core_login');
    });

    it('brings a new verifier, nonce and state each time', async () => {
      const parameters = ['code_challenge', 'nonce', 'state'];
      const values = await Promise.all(
        Array.from({ length: 10 }, async () => {
          const { login } = await open();
          const { searchParams } = new URL(login.location ?? '');
          return parameters.map((name) => searchParams.get(name) ?? '');
        }),
      );
      expect(new Set(values.flat()).size).toBe(30);
      expect(values.flat().every((value) => value.length >= 22)).toBe(true);
    });
  });

  describe('by another method', () => {
    it.each(['POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])(
      '%s is 405, and nothing is used up',
      async (method) => {
        const opened = await open();
        const asked = service.idp.counts.token;
        const cookie = `${ATTEMPT_COOKIE}=${opened.browser.cookie('localhost', ATTEMPT_COOKIE)}`;
        const received = await exchange(callback(opened.query), {
          method,
          headers: { ...NAVIGATION, cookie },
        });
        expect(received.status).toBe(405);
        expect(received.headers['allow']).toBe('GET');
        expect(received.setCookies).toEqual([]);
        expect(service.idp.counts.token).toBe(asked);
        await expectHonest(opened);
      },
    );

    it('form_post is 405: the answer is only taken from the query', async () => {
      const opened = await open();
      const received = await opened.browser.step(`${service.url}/callback`, {
        form: Object.fromEntries(opened.query),
        headers: { origin: service.idp.issuer, 'sec-fetch-site': 'cross-site' },
      });
      expect(received.status).toBe(405);
      await expectHonest(opened);
    });

    it.each(['x-http-method-override', 'x-http-method', 'x-method-override', 'x-original-method'])(
      'a GET stays one whatever %s says',
      async (name) => {
        const opened = await open();
        const received = await opened.browser.step(callback(opened.query), {
          headers: { [name]: 'POST' },
        });
        expect(received.location).toBe(`${service.url}/wanted?x=1`);
      },
    );
  });

  describe('when cookies do not come back', () => {
    it('starts again once, then shows the page that says so', async () => {
      const blocked = new Browser(false);
      const { query } = await open('/wanted?x=1', blocked);
      const asked = service.idp.counts.token;
      const restarted = await blocked.step(callback(query));
      expect(restarted.status).toBe(302);
      expect(new URL(restarted.location ?? '').origin).toBe(service.idp.issuer);
      const again = await blocked.step(callback(service.idp.authorize(restarted.location ?? '')));
      expectFailurePage(again, 'cookies_blocked', 400);
      expect(service.idp.counts.token).toBe(asked);
    });

    it('starts again once when the cookie was lost, and then ends on the page that was wanted', async () => {
      const browser = new Browser();
      const { query } = await open('/wanted?x=1', browser);
      browser.clearCookies();
      const restarted = await browser.step(callback(query));
      const ended = await browser.step(callback(service.idp.authorize(restarted.location ?? '')));
      expect(ended.location).toBe(`${service.url}/wanted?x=1`);
      expect(await me(browser)).toBe(200);
    });

    it('waits for the other tab when another attempt of this browser is under way, and then goes on', async () => {
      const browser = new Browser();
      const { query } = await open('/wanted?x=1', browser);
      browser.clearCookies();
      const restarted = await browser.step(callback(query));
      browser.clearCookies();
      const other = await open('/other', browser);
      const asked = service.idp.counts.token;
      const waits = await browser.step(callback(service.idp.authorize(restarted.location ?? '')));
      expect([waits.status, waits.headers['refresh']]).toEqual([200, '1']);
      expect(waits.setCookies).toEqual([]);
      expect(waits.headers['cache-control']).toBe('no-store');
      expect(waits.headers['content-security-policy']).toContain("default-src 'none'");
      expect(service.idp.counts.token).toBe(asked);
      expect(await me(browser)).toBe(401);
      await browser.step(callback(other.query));
      const goesOn = await browser.step(nextAddress(waits) ?? '');
      expect([goesOn.status, goesOn.location]).toEqual([302, `${service.url}/wanted?x=1`]);
      expect(await me(browser)).toBe(200);
    });
  });

  describe('without a code, or with a huge one', () => {
    it.each<[string, (query: URLSearchParams) => void]>([
      ['missing', (query) => query.delete('code')],
      ['empty', (query) => query.set('code', '')],
      [
        'missing, with an empty error',
        (query) => {
          query.delete('code');
          query.set('error', '');
        },
      ],
    ])('code %s: 400, no request to the IdP, and nothing is used up', async (_, change) => {
      const opened = await open();
      const asked = service.idp.counts.token;
      const query = new URLSearchParams(opened.query);
      change(query);
      const received = await opened.browser.step(callback(query));
      expectFailurePage(received, 'bad_request', 400);
      expect(received.setCookies).toEqual([]);
      expect(await me(opened.browser)).toBe(401);
      expect(service.idp.counts.token).toBe(asked);
      await expectHonest(opened);
    });

    it.each([
      ['code', 30_000, 403],
      ['state', 30_000, 400],
      ['error_description', 30_000, 403],
      ['unknown', 30_000, 302],
      ['code', 80_000, 431],
      ['state', 80_000, 431],
    ])(
      '%s of %i characters: answered with %i, and the next sign-in goes through',
      async (name, length, status) => {
        const opened = await open();
        const query = new URLSearchParams(opened.query);
        if (name === 'error_description') query.set('error', 'access_denied');
        query.set(name, 'x'.repeat(length));
        const received = await opened.browser.step(callback(query));
        expect(received.status).toBe(status);
        expect(beginsSession(received)).toBe(status === 302);
        expect(received.body.length).toBeLessThan(8_192);
        await expectHonest(await open());
      },
    );

    it('a thousand further parameters change nothing', async () => {
      const opened = await open();
      const further = Array.from({ length: 1_000 }, (_, index) => `p${index}=${index}`).join('&');
      const received = await opened.browser.step(callback(`${further}&${String(opened.query)}`));
      expect(received.location).toBe(`${service.url}/wanted?x=1`);
    });
  });

  describe('in a browser with a session cookie', () => {
    it('replaces one that an attacker planted: the attacker holds nothing, the victim is who signed in (session fixation)', async () => {
      const attacker = new Browser();
      await service.signIn(attacker, '/', {
        forge: (forgery) =>
          service.idp.honest({ ...forgery, claims: { ...forgery.claims, sub: 'mallory' } }),
        userInfo: { sub: 'mallory', name: 'Mallory' },
      });
      const planted = attacker.cookie('localhost', SESSION_COOKIE) ?? '';
      const opened = await open();
      opened.browser.setCookie('localhost', SESSION_COOKIE, planted);
      await opened.browser.step(callback(opened.query));
      expect(opened.browser.cookie('localhost', SESSION_COOKIE)).not.toBe(planted);
      const user = await opened.browser.step(`${service.url}/me`);
      expect(user.headers['x-user-subject']).toBe('ada');
      expect(await me(attacker)).toBe(401);
    });

    it.each(['', 'x', `AAAAAAAA.${'A'.repeat(43)}`, 'a.b.c', '"quoted"', 'x'.repeat(4_000)])(
      'replaces one that is none: %j',
      async (planted) => {
        const opened = await open();
        opened.browser.setCookie('localhost', SESSION_COOKIE, planted);
        await expectHonest(opened);
        expect(opened.browser.cookie('localhost', SESSION_COOKIE)).not.toBe(planted);
      },
    );

    it('gives a new session each time, and no two browsers the same', async () => {
      const values = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const opened = await open();
          await opened.browser.step(callback(opened.query));
          return opened.browser.cookie('localhost', SESSION_COOKIE);
        }),
      );
      expect(new Set(values).size).toBe(20);
      expect(values).not.toContain(undefined);
    });

    it('never mixes up people who sign in at the same time', async () => {
      const people = Array.from({ length: 30 }, (_, index) => `person-${index}`);
      const seen = await Promise.all(
        people.map(async (sub) => {
          const browser = new Browser();
          await service.signIn(browser, `/${sub}`, {
            forge: (forgery) =>
              service.idp.honest({ ...forgery, claims: { ...forgery.claims, sub } }),
            userInfo: { sub, name: sub },
          });
          const landed = browser.history.at(-1)?.location;
          const { headers } = await browser.step(`${service.url}/me`);
          return [landed, headers['x-user-subject'], headers['x-user-name']];
        }),
      );
      expect(seen).toEqual(people.map((sub) => [`${service.url}/${sub}`, sub, sub]));
    });
  });
});

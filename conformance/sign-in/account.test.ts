import { mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken } from '../wire/bearer.ts';
import { Browser, NAVIGATION } from '../wire/browser.ts';
import { exchange, type Received } from '../wire/exchange.ts';
import { type Service, startHostedService, WEB_CLIENT_ID } from '../wire/platform.ts';
import { askMe, expectFailurePage, SESSION_COOKIE } from '../wire/sign-in.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const PER_MINUTE = 30;

/** Signs a person in, with a browser that names itself. */
async function signedIn(service: Service, who: 'ada' | 'grace' = 'ada', userAgent = FIREFOX) {
  const browser = new Browser();
  const login = await browser.step(`${service.url}/login`);
  const query = service.idp.authorize(login.location ?? '', {
    forge: (forgery) => service.idp.honest({ ...forgery, claims: { ...forgery.claims, sub: who } }),
    userInfo: { sub: who, name: `${who} <name>`, email: `${who}@x.test`, email_verified: true },
  });
  const headers = { 'user-agent': userAgent };
  const back = await browser.step(`${service.url}/callback?${query}`, { headers });
  expect(back.status).toBe(302);
  return browser;
}
const cookieOf = (browser: Browser) => browser.cookie('localhost', SESSION_COOKIE) ?? '';
/** A session as its owner sees it named. */
const idOf = (browser: Browser) => cookieOf(browser).slice(0, 8);
const open = (service: Service, browser: Browser, query = '') =>
  browser.step(`${service.url}/auth/account${query}`);
/** Posts the page's form from the page. */
const post = (service: Service, browser: Browser, end: string) =>
  browser.step(`${service.url}/auth/account`, {
    form: { end },
    headers: { origin: service.url, 'sec-fetch-site': 'same-origin' },
  });
const textOf = ({ body }: Received) => body.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');
const buttonsOf = ({ body }: Received) =>
  [...body.matchAll(/name="end" value="([^"]*)"/g)].map(([, value]) => value);
const whySignedOut = async (service: Service, browser: Browser) => {
  const { body } = await browser.step(`${service.url}/me`, { headers: { accept: '*/*' } });
  return (JSON.parse(body) as { reason?: string }).reason;
};
const endedIn = (service: Service) =>
  service.running
    .stderr()
    .split('\n')
    .filter((line) => line.includes('session_ended'))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

describe('The account page', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  describe('without a session', () => {
    it('sends a navigation to sign in, and the sign-in ends on it', async () => {
      const browser = new Browser();
      const sent = await open(service, browser);
      expect(sent.status).toBe(302);
      expect(sent.location).toBe(`${service.url}/login?redirect_url=%2Fauth%2Faccount`);
      const login = await browser.step(sent.location ?? '');
      expect((await service.finish(browser, login.location ?? '')).location).toBe(
        `${service.url}/auth/account`,
      );
      expect((await open(service, browser)).status).toBe(200);
    });

    it('answers a program 401 with a problem that says where to sign in, and no redirect', async () => {
      for (const headers of [{}, { 'sec-fetch-mode': 'cors' }, { accept: 'application/json' }]) {
        const refused = await exchange(`${service.url}/auth/account`, { headers });
        expect([refused.status, refused.location]).toEqual([401, undefined]);
        expect(refused.headers['content-type']).toBe('application/problem+json');
        expect(JSON.parse(refused.body)).toMatchObject({
          reason: 'no_credential',
          login_url: `${service.url}/login`,
        });
      }
    });

    it('sends the form of a page whose session has ended to sign in with 303, and ends nothing', async () => {
      const browser = await signedIn(service);
      const other = await signedIn(service);
      const end = idOf(other);
      browser.setCookie('localhost', SESSION_COOKIE, `AAAAAAAA.${'A'.repeat(43)}`);
      const sent = await post(service, browser, end);
      expect([sent.status, sent.location]).toEqual([
        303,
        `${service.url}/login?redirect_url=%2Fauth%2Faccount`,
      ]);
      expect(await askMe(service, other)).toBe(200);
    });

    it('is closed to a bearer, which is no session: 403 to a good one, 401 to a bad one, and ends nothing', async () => {
      const browser = await signedIn(service);
      const good = await accessToken(service.idp, service.url);
      const ask = (token: string, method: string) =>
        exchange(`${service.url}/auth/account`, {
          method,
          headers: {
            'core-authorization': `Bearer ${token}`,
            ...(method === 'GET'
              ? {}
              : {
                  origin: service.url,
                  'content-type': 'application/x-www-form-urlencoded',
                  'content-length': '7',
                }),
          },
          ...(method === 'GET' ? {} : { body: 'end=all' }),
        });
      for (const method of ['GET', 'POST']) {
        const refused = await ask(good, method);
        expect([refused.status, JSON.parse(refused.body)]).toEqual([
          403,
          expect.objectContaining({ reason: 'session_required' }),
        ]);
        expect((await ask('not-a-token', method)).status).toBe(401);
      }
      expect(await askMe(service, browser)).toBe(200);
    });
  });

  describe('with a session', () => {
    it('shows who it is, this session, and every session of the same person, with a button for each', async () => {
      const grace = await signedIn(service, 'grace', 'curl/8.14.1');
      const other = await signedIn(service, 'grace', FIREFOX);
      const page = await open(service, grace);
      expect(page.status).toBe(200);
      const text = textOf(page);
      for (const shown of ['grace &lt;name&gt;', 'grace@x.test', service.idp.issuer, '127.0.0.1'])
        expect(text).toContain(shown);
      expect(text).toMatch(/Signed in ?\d{4}-\d\d-\d\d \d\d:\d\d UTC \(just now\)/);
      expect(text).toMatch(/Ends if unused ?[^(]+\(in 12 hours\)/);
      expect(text).toMatch(/Ends at the latest ?[^(]+\(in 7 days\)/);
      expect(text).toContain('curl/8.14.1 this browser');
      expect(text).toContain('Firefox 140 on Linux');
      expect(buttonsOf(page)).toEqual([idOf(grace), idOf(other), 'all']);
      expect(page.body).toMatch(/<time datetime="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ">/);
    });

    it('shows nothing of another person, and no secret', async () => {
      const ada = await signedIn(service);
      const grace = await signedIn(service, 'grace');
      const page = await open(service, grace);
      expect(buttonsOf(page)).not.toContain(idOf(ada));
      expect(page.body).not.toContain('ada@x.test');
      for (const browser of [ada, grace])
        expect(page.body).not.toContain(cookieOf(browser).slice(9));
      expect(page.body).not.toMatch(/(?:access|refresh)-token-of-/);
    });

    it('lets a browser’s name be text alone', async () => {
      const hostile = '"><script>alert(1)</script><b';
      const browser = await signedIn(service, 'ada', hostile);
      const page = await open(service, browser);
      expect(page.body).not.toContain('<script');
      expect(page.body).toContain('&quot;&gt;&lt;script&gt;alert(1)');
    });

    it('is private: no cache keeps it, no page frames it, and it has no script', async () => {
      const page = await open(service, await signedIn(service));
      expect(page.headers['cache-control']).toBe('no-store');
      expect(page.headers['x-accel-expires']).toBe('0');
      expect(page.headers['referrer-policy']).toBe('same-origin');
      const policy = String(page.headers['content-security-policy']).split('; ');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain(`form-action 'self' https: ${service.idp.issuer}`);
      expect(policy.join(' ')).not.toMatch(/script-src|unsafe/);
    });

    it('answers HEAD with a head alone', async () => {
      const browser = await signedIn(service);
      const head = await browser.step(`${service.url}/auth/account`, { method: 'HEAD' });
      expect([head.status, head.body]).toEqual([200, '']);
      expect(head.headers['content-type']).toBe('text/html; charset=utf-8');
    });

    it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s: 405, and nothing ends', async (method) => {
      const browser = await signedIn(service);
      const cookie = `${SESSION_COOKIE}=${cookieOf(browser)}`;
      const headers = { cookie, origin: service.url };
      const refused = await exchange(`${service.url}/auth/account`, { method, headers });
      expect([refused.status, refused.headers['allow']]).toEqual([405, 'GET, HEAD, POST']);
      expect(await askMe(service, browser)).toBe(200);
    });

    it.each(['/auth/account/', '/auth/accounts', '/auth/Account'])(
      '%s is no account page',
      async (path) => {
        const browser = await signedIn(service);
        expect((await browser.step(service.url + path)).status).toBe(404);
      },
    );
  });

  describe('ending one session', () => {
    it('ends that of another browser, at once and with its reason, says so, and leaves this one', async () => {
      const [here, there] = [await signedIn(service), await signedIn(service)];
      // Both verdicts are remembered from here on.
      expect([await askMe(service, here), await askMe(service, there)]).toEqual([200, 200]);
      const sent = await post(service, here, idOf(there));
      expect([sent.status, sent.location]).toEqual([303, '/auth/account?notice=ended']);
      expect(await whySignedOut(service, there)).toBe('session_revoked');
      expect(await askMe(service, here)).toBe(200);
      const page = await open(service, here, '?notice=ended');
      expect(textOf(page)).toContain('That session has ended.');
      expect(buttonsOf(page)).not.toContain(idOf(there));
      expect(endedIn(service).at(-1)).toMatchObject({
        reason: 'session_revoked',
        by: 'account',
        subject: 'ada',
        issuer: service.idp.issuer,
      });
    });

    it('cannot end the session of another person, and answers exactly as for one that does not exist', async () => {
      const [ada, grace] = [await signedIn(service), await signedIn(service, 'grace')];
      const seen = endedIn(service).length;
      const [theirs, unknown] = [
        await post(service, ada, idOf(grace)),
        await post(service, ada, 'AAAAAAAA'),
      ].map(({ status, headers, body }) => {
        const { date: _date, ...same } = headers;
        return { status, headers: same, body };
      });
      expect(theirs).toEqual(unknown);
      expect(theirs).toMatchObject({
        status: 303,
        headers: { location: '/auth/account?notice=gone' },
      });
      expect(await askMe(service, grace)).toBe(200);
      expect(endedIn(service).length).toBe(seen);
      expect(textOf(await open(service, ada, '?notice=gone'))).toContain('no such session');
    });

    it.each(['', 'all,', 'ALL', 'AAAAAAA', 'AAAAAAAAA', '../logout', '%00'])(
      'end=%j: 400, and nothing ends',
      async (end) => {
        const browser = await signedIn(service);
        const refused = await post(service, browser, end);
        expect(refused.status).toBe(400);
        expect(await askMe(service, browser)).toBe(200);
      },
    );

    it.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x', ''])(
      'a body of type %j: 400, and nothing ends',
      async (type) => {
        const browser = await signedIn(service);
        const refused = await browser.step(`${service.url}/auth/account`, {
          form: { end: 'all' },
          headers: { origin: service.url, 'content-type': type },
        });
        expect(refused.status).toBe(400);
        expect(await askMe(service, browser)).toBe(200);
      },
    );

    it('takes no text for the page from the address: a notice is one of two codes', async () => {
      const browser = await signedIn(service);
      const plain = textOf(await open(service, browser));
      for (const notice of ['<b>hello</b>', 'toString', 'Ended', 'ended%20', ''])
        expect(textOf(await open(service, browser, `?notice=${notice}`))).toBe(plain);
      expect(textOf(await open(service, browser, '?notice=ended'))).not.toBe(plain);
    });
  });

  describe('asked for by another site', () => {
    it.each<[string, Readonly<Record<string, string | readonly string[]>>]>([
      ['another site', { origin: 'https://evil.example' }],
      ['an unknown origin', {}],
      ['a page of ours by its Referer', { referer: 'OURS/auth/account' }],
      ['Origin null', { origin: 'null' }],
      ['an empty Origin', { origin: '' }],
      ['another port', { origin: 'http://localhost:1' }],
      ['an origin that begins like ours', { origin: 'OURS.evil.example' }],
      ['our origin with a slash more', { origin: 'OURS/' }],
      ['two Origin headers', { origin: ['OURS', 'https://evil.example'] }],
      ['Sec-Fetch-Site alone', { 'sec-fetch-site': 'same-origin' }],
      ['our Origin, and another site', { origin: 'OURS', 'sec-fetch-site': 'cross-site' }],
    ])('POST from %s: a 403 page, and nothing ends', async (_, headers) => {
      const [here, there] = [await signedIn(service), await signedIn(service)];
      const spelt = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          [value].flat().map((each) => each.replace('OURS', service.url)),
        ]),
      );
      for (const body of [`end=${idOf(there)}`, `end=${idOf(here)}`, 'end=all']) {
        const refused = await exchange(`${service.url}/auth/account`, {
          method: 'POST',
          headers: {
            ...NAVIGATION,
            'content-type': 'application/x-www-form-urlencoded',
            'content-length': String(body.length),
            cookie: `${SESSION_COOKIE}=${cookieOf(here)}`,
            ...spelt,
          },
          body,
        });
        expectFailurePage(refused, 'cross_site', 403);
        expect(refused.setCookies).toEqual([]);
      }
      expect([await askMe(service, here), await askMe(service, there)]).toEqual([200, 200]);
    });

    it('a GET ends nothing, whatever its query says', async () => {
      const [here, there] = [await signedIn(service), await signedIn(service)];
      for (const end of [idOf(there), idOf(here), 'all'])
        expect((await open(service, here, `?end=${end}`)).status).toBe(200);
      expect([await askMe(service, here), await askMe(service, there)]).toEqual([200, 200]);
    });
  });

  describe('ending the session that asks', () => {
    it('signs this browser out as /logout does: cookie cleared, IdP notified, and the other sessions stay', async () => {
      const [here, there] = [await signedIn(service), await signedIn(service)];
      const revoked = service.idp.counts.revoke;
      const sent = await post(service, here, idOf(here));
      expect(sent.status).toBe(303);
      const location = new URL(sent.location ?? '');
      expect(location.origin + location.pathname).toBe(`${service.idp.issuer}/end_session`);
      expect(Object.fromEntries(location.searchParams)).toEqual({
        id_token_hint: expect.stringMatching(/^ey/),
        client_id: WEB_CLIENT_ID,
        post_logout_redirect_uri: `${service.url}/logout`,
      });
      expect(sent.setCookies).toEqual([
        `${SESSION_COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`,
      ]);
      expect(service.idp.counts.revoke).toBe(revoked + 1);
      expect(await askMe(service, here)).toBe(401);
      expect(await askMe(service, there)).toBe(200);
      expect(endedIn(service).at(-1)).toMatchObject({ reason: 'signed_out', subject: 'ada' });
    });

    it('"Sign out everywhere" ends every session of this person, notifies the IdP, and ends no session of another person', async () => {
      const [here, there, elsewhere] = [
        await signedIn(service),
        await signedIn(service),
        await signedIn(service),
      ];
      const grace = await signedIn(service, 'grace');
      for (const browser of [here, there, elsewhere, grace])
        expect(await askMe(service, browser)).toBe(200);
      const revoked = service.idp.counts.revoke;
      const cookie = cookieOf(here);
      const sent = await post(service, here, 'all');
      expect(sent.status).toBe(303);
      expect(sent.location).toContain(`${service.idp.issuer}/end_session?`);
      expect(here.cookieNames('localhost')).toEqual([]);
      expect(service.idp.counts.revoke).toBe(revoked + 1);
      here.setCookie('localhost', SESSION_COOKIE, cookie);
      for (const browser of [here, there, elsewhere])
        expect(await whySignedOut(service, browser)).toBe('session_revoked');
      expect(await askMe(service, grace)).toBe(200);
      // Signing in again works.
      expect(await askMe(service, await signedIn(service))).toBe(200);
    });

    it('a sign-in that was under way then does not begin; one that is started later does', async () => {
      const here = await signedIn(service);
      const tab = new Browser();
      const login = await tab.step(`${service.url}/login`);
      await post(service, here, 'all');
      await service.finish(tab, login.location ?? '');
      expect(await askMe(service, tab)).toBe(401);
      const later = new Browser();
      await service.signIn(later);
      expect(await askMe(service, later)).toBe(200);
    });

    it('leads into no sign-in by itself: /logout with this page as its target offers it as a link', async () => {
      const browser = await signedIn(service);
      await browser.step(`${service.url}/logout`, { form: {}, headers: { origin: service.url } });
      const page = await browser.step(`${service.url}/logout?redirect_url=/auth/account`);
      expect(page.status).toBe(200);
      expect(page.body).toContain('You are signed out');
      expect(page.body).toContain(encodeURIComponent('/auth/account'));
    });
  });

  it('is a 503 page while sessions cannot be read, and ends nothing', async () => {
    const own = await startHostedService();
    try {
      const browser = await signedIn(own);
      const { state } = own;
      await own.running.stop();
      const store = join(state, 'sessions.sqlite');
      for (const side of ['-wal', '-shm']) rmSync(store + side, { force: true });
      renameSync(store, `${store}.away`);
      mkdirSync(store);
      const down = await own.restart();
      for (const refused of [await open(down, browser), await post(down, browser, 'all')]) {
        expectFailurePage(refused, 'store_unavailable', 503);
        expect(refused.headers['retry-after']).toBeDefined();
      }
      rmdirSync(store);
      renameSync(`${store}.away`, store);
      await expect
        .poll(async () => (await open(down, browser)).status, { timeout: 10_000 })
        .toBe(200);
      await down.running.stop();
    } finally {
      await own.stop();
    }
  });

  it('answers requests that come faster than a person’s with 429 and Retry-After, and other sessions as before', async () => {
    const own = await startHostedService({}, [], undefined, [
      `rateLimit: { perMinute: ${PER_MINUTE} }`,
    ]);
    try {
      const browser = await signedIn(own);
      const statuses: number[] = [];
      for (let count = 0; count <= PER_MINUTE; count += 1)
        statuses.push((await open(own, browser)).status);
      expect(new Set(statuses)).toEqual(new Set([200, 429]));
      const held = await open(own, browser);
      expect(Number(held.headers['retry-after'])).toBeGreaterThan(0);
      expect((await post(own, browser, 'all')).status).toBe(429);
      expect(await askMe(own, browser)).toBe(200);
      expect((await open(own, await signedIn(own))).status).toBe(200);
    } finally {
      await own.stop();
    }
  });
});

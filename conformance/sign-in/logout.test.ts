import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SeenRequest } from '@sallyport/testing/idp/fake-idp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser, NAVIGATION, nextAddress, readForm } from '../wire/browser.ts';
import { exchange, type Received } from '../wire/exchange.ts';
import { type Service, startHostedService, WEB_CLIENT_ID } from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';
import {
  askMe,
  beginsSession,
  expectSignsIn,
  SESSION_COOKIE,
  signInBrowser,
  signOut,
} from '../wire/sign-in.ts';

const DOCS = 'https://docs.example:8443';
/** Where a backend needs no session. */
const OPEN_PATH = '/openapi/index.html';

const ACCEPT = { accept: NAVIGATION.accept };
const isQuestion = ({ status, body }: Received) => status === 200 && body.includes('Sign out?');
const isSignedOutPage = ({ status, body }: Received) =>
  status === 200 && body.includes('You are signed out');
const saysIdpUnreachable = ({ body }: Received) => body.includes('could not be reached');
const cookieOf = (browser: Browser) =>
  `${SESSION_COOKIE}=${browser.cookie('localhost', SESSION_COOKIE)}`;
/** Where "sign in again" leads. */
const linkOf = ({ body, url }: Received) =>
  new URL(/href="(\/login[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? 'about:blank', url);

describe('Signing out', () => {
  const folder = temporaryFolder();
  let service: Service;
  beforeAll(async () => {
    const config = join(folder.path, 'config.yaml');
    writeFileSync(config, `redirectOrigins: [${DOCS}]\n`);
    service = await startHostedService({}, ['--config', config]);
  });
  afterAll(async () => {
    await service.stop();
    folder.remove();
  });

  const signedIn = () => signInBrowser(service);
  const ask = (
    browser: Browser,
    method: string,
    headers: Readonly<Record<string, string | readonly string[]>>,
    query = '',
  ) =>
    exchange(`${service.url}/logout${query}`, {
      method,
      headers: { ...ACCEPT, cookie: cookieOf(browser), ...headers },
    });
  /** Signs out from a page of ours. */
  const leave = (browser: Browser, query = '') => signOut(service, browser, query);
  const revocations = () => service.idp.requests.filter(({ path }) => path === '/revoke');

  const backWith = (query: string, browser = new Browser()) =>
    browser.step(`${service.url}/logout${query}`, {
      headers: { 'sec-fetch-site': 'cross-site' },
    });
  const stateOf = async (target: string) => {
    const sent = await leave(await signedIn(), `?redirect_url=${encodeURIComponent(target)}`);
    return new URL(sent.location ?? '').searchParams.get('state') ?? '';
  };
  const expectSignedOut = (received: Received, target: string) => {
    expect(isSignedOutPage(received)).toBe(true);
    expect(saysIdpUnreachable(received)).toBe(false);
    expect(nextAddress(received)).toBeUndefined();
    expect(received.setCookies).toEqual([]);
    const link = linkOf(received);
    expect(link.pathname).toBe('/login');
    expect(link.searchParams.get('redirect_url')).toBe(service.url + target);
  };

  describe('asked for by another site', () => {
    it.each<[string, string, Readonly<Record<string, string | readonly string[]>>]>([
      ['GET from another site', 'GET', { ...NAVIGATION, 'sec-fetch-site': 'cross-site' }],
      ['GET from a sibling domain', 'GET', { ...NAVIGATION, 'sec-fetch-site': 'same-site' }],
      ['GET typed into the address bar', 'GET', { ...NAVIGATION, 'sec-fetch-site': 'none' }],
      ['GET without Sec-Fetch-Site', 'GET', {}],
      ['GET with two Sec-Fetch-Site', 'GET', { 'sec-fetch-site': ['same-origin', 'cross-site'] }],
      ['GET with Sec-Fetch-Site in capitals', 'GET', { 'sec-fetch-site': 'SAME-ORIGIN' }],
      [
        'GET of an image of another site',
        'GET',
        { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
      ],
      ...['iframe', 'frame', 'embed', 'object', 'fencedframe', 'empty', ''].map(
        (dest): [string, string, Readonly<Record<string, string>>] => [
          `GET of a part (${dest}) of a page of ours`,
          'GET',
          { ...NAVIGATION, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': dest },
        ],
      ),
      [
        'GET from a page of ours, without Sec-Fetch-Dest',
        'GET',
        { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' },
      ],
      [
        'GET that says in a header to be a POST',
        'GET',
        { 'x-http-method-override': 'POST', origin: 'OURS' },
      ],
      ['POST from another site', 'POST', { origin: 'https://evil.example' }],
      ['POST without Origin', 'POST', {}],
      ['POST without Origin, with a Referer of ours', 'POST', { referer: 'OURS/' }],
      ['POST with Origin null', 'POST', { origin: 'null' }],
      ['POST with an empty Origin', 'POST', { origin: '' }],
      ['POST from another port', 'POST', { origin: 'http://localhost:1' }],
      ['POST from another scheme', 'POST', { origin: 'OURS-HTTPS' }],
      ['POST from an origin that begins like ours', 'POST', { origin: 'OURS.evil.example' }],
      ['POST from our origin with a slash more', 'POST', { origin: 'OURS/' }],
      ['POST from our origin and another', 'POST', { origin: 'OURS https://evil.example' }],
      ['POST with two Origin headers', 'POST', { origin: ['OURS', 'https://evil.example'] }],
      ['POST from our other name', 'POST', { origin: 'OURS-127' }],
      ['POST with Sec-Fetch-Site alone', 'POST', { 'sec-fetch-site': 'same-origin' }],
    ])('%s: a question is asked, and nothing is cleared', async (_, method, headers) => {
      const browser = await signedIn();
      const seen = service.idp.requests.length;
      const { host } = new URL(service.url);
      const spell = (value: string) =>
        value
          .replace('OURS-HTTPS', `https://${host}`)
          .replace('OURS-127', `http://${host.replace('localhost', '127.0.0.1')}`)
          .replace('OURS', service.url);
      const spelt = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          typeof value === 'string' ? spell(value) : value.map(spell),
        ]),
      );
      const received = await ask(browser, method, spelt, '?redirect_url=/x');
      expect(isQuestion(received)).toBe(true);
      expect(received.setCookies).toEqual([]);
      expect(received.headers['cache-control']).toBe('no-store');
      expect(nextAddress(received)).toBeUndefined();
      expect(received.body).not.toContain('<script');
      expect(await askMe(service, browser)).toBe(200);
      expect(service.idp.requests.length).toBe(seen);
    });

    it.each(['cross-site', 'same-origin'])(
      'HEAD (%s): nothing is cleared, and nothing but a head is sent',
      async (site) => {
        const browser = await signedIn();
        const received = await ask(browser, 'HEAD', { ...NAVIGATION, 'sec-fetch-site': site });
        expect([received.status, received.body]).toEqual([200, '']);
        expect(received.setCookies).toEqual([]);
        expect(await askMe(service, browser)).toBe(200);
      },
    );

    it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
      '%s: 405, and nothing is cleared',
      async (method) => {
        const browser = await signedIn();
        const received = await ask(browser, method, { origin: service.url });
        expect([received.status, received.headers['allow']]).toEqual([405, 'GET, HEAD, POST']);
        expect(received.setCookies).toEqual([]);
        expect(await askMe(service, browser)).toBe(200);
      },
    );

    it.each([
      'redirect_url=/a&redirect_url=/b',
      'redirect_url=/a&redirect_url=/a',
      'state=a&state=b',
      'redirect%5furl=/a&redirect_url=/b',
    ])('a repeated parameter (%s): 400, and nothing is cleared', async (query) => {
      const browser = await signedIn();
      const received = await leave(browser, `?${query}`);
      expect(received.status).toBe(400);
      expect(received.setCookies).toEqual([]);
      expect(await askMe(service, browser)).toBe(200);
    });

    it('the question, answered with its button, signs out and keeps the target', async () => {
      const browser = await signedIn();
      const question = await browser.step(`${service.url}/logout?redirect_url=${OPEN_PATH}`, {
        headers: { 'sec-fetch-site': 'cross-site' },
      });
      expect(isQuestion(question)).toBe(true);
      // Browsers hold form-action against the redirect to the IdP as well.
      const policy = String(question.headers['content-security-policy']);
      expect(/form-action ([^;]*)/.exec(policy)?.[1]?.split(' ')).toEqual(
        expect.arrayContaining(["'self'", service.idp.issuer]),
      );
      const { action } = readForm(question);
      const sent = await browser.step(action, { form: {}, headers: { origin: service.url } });
      expect(sent.status).toBe(303);
      expect(await askMe(service, browser)).toBe(401);
      const state = new URL(sent.location ?? '').searchParams.get('state');
      const back = await browser.step(`${service.url}/logout?state=${state}`);
      expect([back.status, back.location]).toEqual([302, service.url + OPEN_PATH]);
    });

    it('the question does not carry a foreign target', async () => {
      const browser = await signedIn();
      const question = await browser.step(
        `${service.url}/logout?redirect_url=${encodeURIComponent('https://evil.example/"><script>')}`,
      );
      expect(question.body).not.toContain('evil');
      expect(readForm(question).action).toBe(`${service.url}/logout`);
    });
  });

  describe('from a page of ours', () => {
    it.each<[string, string, Readonly<Record<string, string>>]>([
      ['POST', 'POST', { origin: 'OURS' }],
      ['GET', 'GET', { ...NAVIGATION, 'sec-fetch-site': 'same-origin' }],
    ])(
      '%s: the session has ended everywhere at once, and the cookie with it',
      async (_, method, headers) => {
        const browser = await signedIn();
        const cookie = cookieOf(browser);
        const other = await signedIn();
        const spelt = Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [
            name,
            value.replace('OURS', service.url),
          ]),
        );
        const received = await ask(browser, method, spelt);
        expect(received.status).toBe(303);
        expect(received.setCookies).toEqual([
          `${SESSION_COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`,
        ]);
        const me = await exchange(`${service.url}/me`, { headers: { cookie } });
        expect(me.status).toBe(401);
        const status = await exchange(`${service.url}/auth/session`, { headers: { cookie } });
        expect(JSON.parse(status.body)).toMatchObject({ authenticated: false });
        const login = await exchange(`${service.url}/login`, {
          headers: { ...NAVIGATION, cookie },
        });
        expect(new URL(login.location ?? '').origin).toBe(service.idp.issuer);
        // Another session of the same person stays.
        expect(await askMe(service, other)).toBe(200);
      },
    );

    it('sends the IdP exactly what it needs: id_token_hint, client_id, the registered address', async () => {
      let idToken = '';
      const browser = new Browser();
      await service.signIn(browser, '/', {
        forge: async (forgery) => {
          idToken = await service.idp.honest(forgery);
          return idToken;
        },
      });
      const sent = new URL((await leave(browser)).location ?? '');
      expect(sent.origin + sent.pathname).toBe(`${service.idp.issuer}/end_session`);
      expect(Object.fromEntries(sent.searchParams)).toEqual({
        id_token_hint: idToken,
        client_id: WEB_CLIENT_ID,
        post_logout_redirect_uri: `${service.url}/logout`,
      });
      expect([...sent.searchParams.keys()]).toHaveLength(3);
    });

    it('adds a sealed state when there is a target, and the target is not in the address', async () => {
      const browser = await signedIn();
      const sent = new URL((await leave(browser, '?redirect_url=/console/canary')).location ?? '');
      expect(sent.searchParams.get('post_logout_redirect_uri')).toBe(`${service.url}/logout`);
      const state = sent.searchParams.get('state') ?? '';
      expect(state).toMatch(/^[\w-]{40,}$/);
      expect(sent.href).not.toContain('canary');
      expect(Buffer.from(state, 'base64url').toString('latin1')).not.toContain('canary');
    });

    it('revokes the refresh token once (RFC 7009), as the client it was given to', async () => {
      const browser = await signedIn();
      const before = revocations().length;
      await leave(browser);
      const [request, ...more] = revocations().slice(before) as [SeenRequest, ...SeenRequest[]];
      expect(more).toEqual([]);
      expect(request.form.get('token')).toBe('refresh-token-of-ada');
      expect(request.form.get('token_type_hint')).toBe('refresh_token');
      expect(request.headers.authorization).toMatch(/^Basic /);
      expect(request.form.has('client_secret')).toBe(false);
    });

    it('revokes nothing when the IdP gave no refresh token', async () => {
      const browser = new Browser();
      await service.signIn(browser, '/', {
        answer: (idToken) => ({
          body: JSON.stringify({ access_token: 'a', token_type: 'Bearer', id_token: idToken }),
        }),
      });
      expect(await askMe(service, browser)).toBe(200);
      const before = revocations().length;
      expect((await leave(browser)).status).toBe(303);
      expect(revocations()).toHaveLength(before);
    });

    it('ends the session also when a planted cookie of the same name stands in front of it', async () => {
      const browser = await signedIn();
      const planted = `${SESSION_COOKIE}=AAAAAAAA.${'A'.repeat(43)}`;
      await exchange(`${service.url}/logout`, {
        method: 'POST',
        headers: { origin: service.url, cookie: `${planted}; ${cookieOf(browser)}` },
      });
      expect(await askMe(service, browser)).toBe(401);
    });

    it('ten times at once ends one session and fails for none', async () => {
      const browser = await signedIn();
      const received = await Promise.all(Array.from({ length: 10 }, () => leave(browser)));
      expect(
        received.map(({ status }) => status).every((status) => [200, 303].includes(status)),
      ).toBe(true);
      expect(await askMe(service, browser)).toBe(401);
    });

    it('leaves nothing behind that the next sign-in would meet', async () => {
      const browser = await signedIn();
      await leave(browser);
      expect(browser.cookieNames('localhost')).toEqual([]);
      await expectSignsIn(service, browser);
    });
  });

  describe('and coming back from the IdP', () => {
    it('shows the signed-out page, which starts no sign-in by itself', async () => {
      expectSignedOut(await backWith(''), '/');
    });

    it('shows the signed-out page with a link to a target that needs a session', async () => {
      expectSignedOut(
        await backWith(`?state=${await stateOf('/console/x?y=1')}`),
        '/console/x?y=1',
      );
    });

    it('goes to a target that needs none, on our origin or an allowed one', async () => {
      for (const target of [service.url + OPEN_PATH, `${DOCS}/bye`]) {
        const received = await backWith(`?state=${await stateOf(target)}`);
        expect([received.status, received.location]).toEqual([302, target]);
      }
    });

    it.each(['https://evil.example/', '//evil.example', '/\\evil.example', '/logout', '/login'])(
      'is not led to %s: there is no state, and the page leads to the root',
      async (target) => {
        expect(await stateOf(target)).toBe('');
        expectSignedOut(await backWith(`?redirect_url=${encodeURIComponent(target)}`), '/');
      },
    );

    it('ignores a state that is forged, changed, too long, or of a sign-in', async () => {
      const state = await stateOf(OPEN_PATH);
      const login = await new Browser().step(`${service.url}/login?redirect_url=${OPEN_PATH}`);
      const ofSignIn = new URL(login.location ?? '').searchParams.get('state') ?? '';
      const forged = [
        '',
        'x',
        `${state}A`,
        state.slice(0, -1),
        state.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
        state.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
        Buffer.from('https://evil.example/').toString('base64url'),
        'https://evil.example/',
        'A'.repeat(9_000),
        ofSignIn,
      ];
      for (const each of forged)
        expectSignedOut(await backWith(`?state=${encodeURIComponent(each)}`), '/');
      // And as it was given it counts.
      expect((await backWith(`?state=${state}`)).location).toBe(service.url + OPEN_PATH);
    });

    it('does not let the state of a sign-out begin a sign-in', async () => {
      const state = await stateOf(OPEN_PATH);
      const received = await new Browser().step(
        `${service.url}/callback?code=x&state=${state}&iss=${service.idp.issuer}`,
      );
      expect(received.status).toBe(400);
      expect(beginsSession(received)).toBe(false);
    });

    it('asks, and clears nothing, when a person has signed in meanwhile', async () => {
      const browser = await signedIn();
      const received = await backWith(`?state=${await stateOf('/console')}`, browser);
      expect(isQuestion(received)).toBe(true);
      expect(await askMe(service, browser)).toBe(200);
    });

    it('clears a cookie that is no session, and asks the IdP for nothing', async () => {
      const browser = new Browser();
      browser.setCookie('localhost', SESSION_COOKIE, `AAAAAAAA.${'A'.repeat(43)}`);
      const before = service.idp.requests.length;
      expect(isSignedOutPage(await leave(browser))).toBe(true);
      expect(browser.cookieNames('localhost')).toEqual([]);
      expect(service.idp.requests).toHaveLength(before);
    });
  });
});

describe('Signing out while the IdP', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  const signedIn = async () => {
    const browser = await signInBrowser(service);
    expect(await askMe(service, browser)).toBe(200);
    return browser;
  };
  /** Of a browser that does not send `Sec-Fetch-Site`. */
  const leave = (browser: Browser) =>
    browser.step(`${service.url}/logout`, { form: {}, headers: { origin: service.url } });

  it('does not answer the revocation: signed out here all the same, and sent to the IdP', async () => {
    const browser = await signedIn();
    service.idp.stalled.add('/revoke');
    const received = await leave(browser);
    service.idp.stalled.clear();
    expect(received.status).toBe(303);
    expect(received.location).toContain(`${service.idp.issuer}/end_session?`);
    expect(browser.cookieNames('localhost')).toEqual([]);
    expect(await askMe(service, browser)).toBe(401);
  });

  it('is down: signed out here, and the page says that the IdP could not be notified', async () => {
    const browser = await signedIn();
    await service.idp.goDown();
    const received = await leave(browser);
    await service.idp.comeUp();
    expect(browser.cookieNames('localhost')).toEqual([]);
    expect(await askMe(service, browser)).toBe(401);
    expect([received.status, received.location]).toEqual([200, undefined]);
    expect(isSignedOutPage(received)).toBe(true);
    expect(saysIdpUnreachable(received)).toBe(true);
  });

  it('has been down since the start: signed out here, and the page says that the IdP could not be notified', async () => {
    const browser = await signedIn();
    await service.running.stop();
    await service.idp.goDown();
    service = await service.restart();
    expect(await askMe(service, browser)).toBe(200);
    const received = await leave(browser);
    await service.idp.comeUp();
    expect(isSignedOutPage(received)).toBe(true);
    expect(saysIdpUnreachable(received)).toBe(true);
    expect(nextAddress(received)).toBeUndefined();
    expect(browser.cookieNames('localhost')).toEqual([]);
    expect(await askMe(service, browser)).toBe(401);
  });

  it('has no end-session endpoint: signed out here, and the page says that the IdP could not be notified', async () => {
    await service.running.stop();
    service.idp.metadata = { end_session_endpoint: undefined, revocation_endpoint: undefined };
    service = await service.restart();
    const browser = await signedIn();
    const received = await leave(browser);
    expect(isSignedOutPage(received)).toBe(true);
    expect(saysIdpUnreachable(received)).toBe(true);
    expect(await askMe(service, browser)).toBe(401);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser, NAVIGATION } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { type Service, startHostedService, WEB_CLIENT_ID } from '../wire/platform.ts';
import { temporaryFolder } from '../wire/process.ts';
import { askMe, expectFailurePage } from '../wire/sign-in.ts';

describe('GET /login', () => {
  let service: Service;
  let signedIn: Browser;
  beforeAll(async () => {
    service = await startHostedService();
    signedIn = new Browser();
    await service.signIn(signedIn);
  });
  afterAll(() => service.stop());

  const login = (query: string, browser = new Browser()) =>
    browser.step(`${service.url}/login${query}`);
  const sentTo = async (query: string, browser?: Browser) => {
    const received = await login(query, browser);
    expect(received.status).toBe(302);
    return new URL(received.location ?? '');
  };

  it('answers 302 to the authorize endpoint, with exactly what an authorization request needs', async () => {
    const url = await sentTo('?redirect_url=/x');
    expect(url.origin + url.pathname).toBe(`${service.idp.issuer}/authorize`);
    const {
      state,
      nonce,
      code_challenge: challenge,
      ...rest
    } = Object.fromEntries(url.searchParams);
    expect(rest).toEqual({
      response_type: 'code',
      client_id: WEB_CLIENT_ID,
      redirect_uri: `${service.url}/callback`,
      scope: 'profile openid offline_access',
      code_challenge_method: 'S256',
    });
    expect(state).toMatch(/^[\w-]{64,}$/);
    expect(nonce).toMatch(/^[\w-]{22,}$/);
    expect(challenge).toMatch(/^[\w-]{43}$/);
    expect([...url.searchParams.keys()]).toHaveLength(8);
  });

  it('sets one attempt cookie for ten minutes, and the answer is not cached', async () => {
    const { setCookies, headers } = await login('');
    expect(setCookies).toHaveLength(1);
    expect(setCookies[0]).toMatch(
      /^core_login_0=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-accel-expires']).toBe('0');
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  it('takes nothing else from its query over to the IdP', async () => {
    const url = await sentTo(
      '?client_id=evil&redirect_uri=https://evil.example/&scope=evil&response_type=token&state=evil&nonce=evil&code_challenge=evil&code_challenge_method=plain&login_hint=evil&request_uri=evil&x=evil',
    );
    expect(url.href).not.toMatch(/evil|plain|response_type=token/);
    expect([...url.searchParams.keys()]).toHaveLength(8);
  });

  describe('for what no person opened', () => {
    it.each<[string, Readonly<Record<string, string>>]>([
      ['fetch', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
      ['fetch of the same origin', { 'sec-fetch-mode': 'same-origin', 'sec-fetch-dest': 'empty' }],
      ['a script', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }],
      ['an image', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
      ['a font', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'font' }],
      ['a WebSocket', { 'sec-fetch-mode': 'websocket', 'sec-fetch-dest': 'websocket' }],
      [
        'a WebSocket of a program',
        {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        },
      ],
      ['XMLHttpRequest', { 'x-requested-with': 'XMLHttpRequest' }],
      ['gRPC', { 'content-type': 'application/grpc' }],
      ['gRPC-Web', { 'content-type': 'application/grpc-web+proto', 'sec-fetch-mode': 'cors' }],
      ['Connect', { 'connect-protocol-version': '1' }],
    ])('%s: 401 with the address to open, and nothing is started', async (_, headers) => {
      for (const accept of ['*/*', NAVIGATION.accept]) {
        const received = await exchange(`${service.url}/login?redirect_url=/x`, {
          headers: { accept, ...headers },
        });
        expect(received.status).toBe(401);
        expect(received.headers['content-type']).toBe('application/problem+json');
        expect(received.location).toBeUndefined();
        expect(received.setCookies).toEqual([]);
        expect(JSON.parse(received.body)).toMatchObject({
          status: 401,
          login_url: `${service.url}/login`,
        });
      }
    });

    it('starts nothing for it with prompt or idp either', async () => {
      for (const query of ['?prompt=login', '?idp=google']) {
        const received = await signedIn.step(`${service.url}/login${query}`, {
          headers: { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
        });
        expect([received.status, received.setCookies]).toEqual([401, []]);
      }
    });

    it.each<[string, Readonly<Record<string, string>>]>([
      ['a page load', NAVIGATION],
      ['a page load without Sec-Fetch', { accept: NAVIGATION.accept }],
      ['a page load from another site', { ...NAVIGATION, 'sec-fetch-site': 'cross-site' }],
      ['a bare client', {}],
      ['a bare client that takes anything', { accept: '*/*', 'user-agent': 'curl/8' }],
    ])('but %s gets the 302', async (_, headers) => {
      const received = await exchange(`${service.url}/login`, { headers });
      expect(received.status).toBe(302);
      expect(received.location).toContain(`${service.idp.issuer}/authorize?`);
      expect(received.setCookies).toHaveLength(1);
    });
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
    'by %s is 405, and nothing is started',
    async (method) => {
      const received = await exchange(`${service.url}/login`, { method, headers: NAVIGATION });
      expect([received.status, received.headers['allow']]).toEqual([405, 'GET, HEAD']);
      expect(received.setCookies).toEqual([]);
    },
  );

  describe('with an IdP selector', () => {
    it.each(['google', 'A.b_c:d-9', 'x'.repeat(128)])('%s: passed on once', async (value) => {
      const url = await sentTo(`?idp=${value}`);
      expect(url.searchParams.getAll('idp')).toEqual([value]);
    });

    it.each([
      '',
      'x'.repeat(129),
      'a%20b',
      'a/b',
      'a%26prompt=none',
      'a%0d%0ab',
      '%3Cscript%3E',
      'caf%C3%A9',
      'a%00',
    ])('%j: a page, and nothing is started', async (value) => {
      const received = await login(`?idp=${value}`);
      expectFailurePage(received, 'bad_request', 400);
      expect(received.setCookies).toEqual([]);
      expect(received.body).not.toContain('<script');
    });

    it.each([
      '?idp=a&idp=b',
      '?idp=a&idp=a',
      '?idp=a&%69dp=b',
      '?redirect_url=/a&redirect_url=/b',
      '?prompt=login&prompt=login',
    ])('a repeated parameter (%s): a page, and nothing is started', async (query) => {
      for (const browser of [new Browser(), signedIn]) {
        const received = await login(query, browser);
        expectFailurePage(received, 'bad_request', 400);
        expect(received.setCookies).toEqual([]);
      }
    });

    it('under the name that is configured, and no other', async () => {
      const folder = temporaryFolder();
      const config = join(folder.path, 'config.yaml');
      writeFileSync(config, 'auth: { userAuth: { idpQueryParameter: kc_idp_hint } }\n');
      const other = await startHostedService({}, ['--config', config]);
      const received = await new Browser().step(
        `${other.url}/login?kc_idp_hint=google&idp=ignored`,
      );
      await other.stop();
      folder.remove();
      const { searchParams } = new URL(received.location ?? '');
      expect(searchParams.get('kc_idp_hint')).toBe('google');
      expect(searchParams.has('idp')).toBe(false);
    });
  });

  describe('with a prompt', () => {
    it.each(['login', 'select_account', 'consent'])('%s: passed on', async (prompt) => {
      expect((await sentTo(`?prompt=${prompt}`)).searchParams.getAll('prompt')).toEqual([prompt]);
    });

    it.each(['none', 'create', 'login%20consent', '', 'LOGIN', 'login%00'])(
      '%j: a page, and nothing is started',
      async (prompt) => {
        const received = await login(`?prompt=${prompt}`);
        expectFailurePage(received, 'bad_request', 400);
        expect(received.setCookies).toEqual([]);
      },
    );
  });

  describe('in a browser that is signed in', () => {
    it('goes straight to the target, and asks the IdP for nothing', async () => {
      const seen = service.idp.requests.length;
      const received = await login('?redirect_url=/wanted?x=1', signedIn);
      expect([received.status, received.location]).toEqual([302, `${service.url}/wanted?x=1`]);
      expect(received.setCookies).toEqual([]);
      expect(service.idp.requests).toHaveLength(seen);
    });

    it('goes to the landing page when no target is named', async () => {
      expect((await login('', signedIn)).location).toBe(`${service.url}/`);
    });

    it.each(['?idp=google', '?prompt=login', '?prompt=select_account&redirect_url=/x'])(
      'goes to the IdP when asked to (%s), and stays signed in meanwhile',
      async (query) => {
        const url = await sentTo(query, signedIn);
        expect(url.origin).toBe(service.idp.issuer);
        expect(await askMe(service, signedIn)).toBe(200);
      },
    );

    it('goes to the IdP when the cookie is no session', async () => {
      const browser = new Browser();
      browser.setCookie('localhost', 'core_session', `AAAAAAAA.${'A'.repeat(43)}`);
      expect((await sentTo('', browser)).origin).toBe(service.idp.issuer);
    });
  });

  it.each(['/login/', '/login/x', '/LOGIN', '//login', '/login%00', '/login;x'])(
    'exists under one spelling: %s is not it',
    async (path) => {
      const received = await exchange(service.url + path, { headers: NAVIGATION });
      expect([400, 401, 404]).toContain(received.status);
      expect(received.setCookies).toEqual([]);
    },
  );
});

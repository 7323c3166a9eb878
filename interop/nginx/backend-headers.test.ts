import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import { type Platform, sendRaw, startGate, startPlatform } from './gate.ts';
import { NGINX } from './nginx.ts';

/** Headers that a client would send to get the identity of another person. */
const SPOOFED_NAMES = [
  'X-User-Subject',
  'x-user-subject',
  'X-USER-ISSUER',
  'X-User-Identity-Type',
  'X-User-Email',
  'X-User-Name',
  'X-User-Claim-Groups',
  'X-User-Claim-Tenant-Id',
  'X_User_Subject',
  'X-User_Subject',
  'X_USER_EMAIL',
  'X_User_Claim_Groups',
  'X.User.Subject',
];
const FORWARDED_NAMES = [
  'Forwarded',
  'Proxy',
  'Proxy-Authorization',
  'Proxy-Connection',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-Uri',
  'X-Forwarded-Method',
  'X-Forwarded-Prefix',
  'X-Forwarded-Port',
  'X-Forwarded-User',
  'X_Forwarded_Uri',
  'X-Original-URL',
  'X-Original-URI',
  'X-Original-Method',
  'X-Auth-Request-Redirect',
  'X-Real-IP',
  'X-Rewrite-URL',
  'X-HTTP-Method-Override',
];
const SPOOF = 'spoofed-value';
const spoof = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, SPOOF]));

describe.skipIf(NGINX.isLeftOut)('nginx: what reaches a backend', () => {
  let platform: Platform;
  let session: string;
  /** Asks the backend `organizations`, which sees no credential. */
  const ask = async (headers: Readonly<Record<string, string | readonly string[]>>) => {
    const received = await exchange(`${platform.url}/org`, { headers });
    expect(received.status).toBe(200);
    return platform.last('organizations');
  };

  beforeAll(async () => {
    platform = await startPlatform('claimHeaders: [groups, tenant_id]\n');
    platform.service.idp.userInfo = {
      name: 'Ada Lovelace, Countess',
      email: 'ada@example.test',
      email_verified: true,
      groups: ['a', 'é'],
      tenant_id: 't 1',
    };
    const visitor = new Browser();
    await platform.signIn(visitor);
    session = visitor.cookie('localhost', 'core_session') ?? '';
    expect(session).toHaveLength(52);
  });
  afterAll(() => platform.stop());
  beforeEach(() => void platform.arrived());

  it('is who the check says, in every identity header', async () => {
    const { headers } = await ask({ cookie: `core_session=${session}` });
    expect(headers).toMatchObject({
      'x-user-subject': 'ada',
      'x-user-issuer': platform.service.idp.issuer,
      'x-user-identity-type': 'user',
      'x-user-email': 'ada@example.test',
      'x-user-name': 'Ada Lovelace, Countess',
      'x-user-claim-groups': '["a","%C3%A9"]',
      'x-user-claim-tenant-id': 't 1',
    });
  });

  it('is no identity header of the client in any spelling, sent once or twice', async () => {
    const twice = Object.fromEntries(SPOOFED_NAMES.map((name) => [name, [SPOOF, SPOOF]]));
    for (const headers of [spoof(SPOOFED_NAMES), twice]) {
      const seen = await ask({ ...headers, cookie: `core_session=${session}` });
      expect(seen.rawHeaders).not.toContain(SPOOF);
      expect(seen.headers['x-user-subject']).toBe('ada');
    }
  });

  it.each(['/openapi', '/healthz'])(
    'is no identity or forwarded header of the client on the open route %s either',
    async (path) => {
      const headers = { ...spoof(SPOOFED_NAMES), ...spoof(FORWARDED_NAMES) };
      await exchange(platform.url + path, { headers });
      const seen = platform.last(path === '/openapi' ? 'redoc' : 'console');
      expect(seen.path).toBe(path);
      expect(seen.rawHeaders).not.toContain(SPOOF);
      expect(seen.rawHeaders.filter((name) => /^x.user/i.test(name))).toEqual([]);
    },
  );

  it('is no identity header that Connection names, taken away', async () => {
    const { headers } = await ask({
      cookie: `core_session=${session}`,
      connection: 'close, X-User-Subject, X-Forwarded-For, Cookie',
    });
    expect(headers['x-user-subject']).toBe('ada');
    expect(headers['x-forwarded-for']).toBe('127.0.0.1');
    expect(headers.connection).toBeUndefined();
  });

  it.each([
    ['a space before the colon', 'X-User-Subject : evil'],
    ['a folded line', 'X-A: b\r\n X-User-Subject: evil'],
    ['a tab before the colon', 'X-User-Subject\t: evil'],
    ['a bare carriage return', 'X-A: b\rX-User-Subject: evil'],
  ])('is no identity header of the client behind %s', async (_, line) => {
    const answer = await sendRaw(
      platform.url,
      `GET /org HTTP/1.1\r\nHost: localhost\r\nCookie: core_session=${session}\r\n${line}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 (?:200|400) /);
    for (const { headers, rawHeaders } of platform.backend('organizations').seen) {
      expect(headers['x-user-subject']).toBe('ada');
      expect(rawHeaders).not.toContain('evil');
    }
  });

  it('is what nginx knows about the way the request took, and nothing the client says', async () => {
    const seen = await ask({ ...spoof(FORWARDED_NAMES), cookie: `core_session=${session}` });
    expect(seen.rawHeaders).not.toContain(SPOOF);
    expect(seen.headers).toMatchObject({
      host: new URL(platform.url).host,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': new URL(platform.url).host,
      'x-forwarded-proto': 'http',
    });
    expect(seen.headers['x-request-id']).toMatch(/^\d+\.\d{3}-\d+-\d+-\d+$/);
  });

  it.each(['evil.example', 'localhost:1'])(
    'is the public host, whatever Host says: %s',
    async (host) => {
      const { headers } = await ask({ host, cookie: `core_session=${session}` });
      expect(headers.host).toBe(new URL(platform.url).host);
    },
  );

  it.each([
    ['the session alone', 'core_session=S', undefined],
    ['the session first', 'core_session=S; a=1', 'a=1'],
    ['the session last', 'a=1; core_session=S', 'a=1'],
    ['the session between', 'a=1; core_session=S; b=2', 'a=1; b=2'],
    ['attempts around it', 'core_login_0=x; a=1; core_login_3=y; core_session=S; b=2', 'a=1; b=2'],
    ['no white space', 'a=1;core_session=S;b=2', 'a=1;b=2'],
    ['much white space', 'a=1;  \tcore_session = S ; b=2', 'a=1; b=2'],
    ['every prefix', '__Host-core_session=x; __Secure-core_session=y; core_session=S; b=2', 'b=2'],
    ['a session of each prefix for attempts', '__Host-core_login_1=x; core_session=S; c=', 'c='],
    [
      'names that only look alike',
      'xcore_session=1; core_session=S; core_sessions=2; core_login_4=3; Core_Session=4',
      'xcore_session=1; core_sessions=2; core_login_4=3; Core_Session=4',
    ],
    [
      'values that look like a name',
      'a=core_session=1; core_session=S; b="core_session"',
      'a=core_session=1; b="core_session"',
    ],
    ['an empty session before', 'core_session=; core_session=S; a=1', 'a=1'],
  ])('is every cookie but ours: %s', async (_, cookie, kept) => {
    const seen = await ask({
      cookie: cookie.replace('=S', `=${session}`).replace('= S', `= ${session}`),
    });
    expect(seen.headers.cookie).toBe(kept);
  });

  it('is every cookie but ours when the header is split', async () => {
    const seen = await ask({ cookie: ['a=1', `core_session=${session}`, 'b=2'] });
    expect(seen.headers.cookie).toBe('a=1; b=2');
  });

  it('is no cookie at all where more of ours are planted than any browser sends', async () => {
    const planted = Array.from({ length: 9 }, (_, index) => `a${index}=1; core_login_0=${index}`);
    const seen = await ask({ cookie: [...planted, `core_session=${session}`].join('; ') });
    expect(seen.headers).not.toHaveProperty('cookie');
  });

  it('is a Cookie header of 8,000 bytes, without ours', async () => {
    const others = Array.from({ length: 1_300 }, (_, index) => `c${index % 10}=1`).join('; ');
    const seen = await ask({ cookie: `${others}; core_session=${session}` });
    expect(seen.headers.cookie).toBe(others);
  });

  it.each(['/org', '/openapi'])('is no authorization header on %s', async (path) => {
    const received = await exchange(platform.url + path, {
      headers: {
        cookie: `core_session=${session}`,
        authorization: 'Basic YTpi',
        'core-authorization': '',
        'proxy-authorization': 'Basic YTpi',
      },
    });
    expect(received.status).toBe(200);
    const { rawHeaders, headers } = platform.last(path === '/org' ? 'organizations' : 'redoc');
    expect(rawHeaders).not.toContain('Basic YTpi');
    expect(headers).not.toHaveProperty('core-authorization');
    expect(headers).not.toHaveProperty('cookie');
  });

  it('is every credential where the admin service verifies again, and still no identity of the client', async () => {
    const cookie = `core_session=${session}; a=1`;
    for (const path of ['/api/v1/projects', '/config']) {
      await exchange(platform.url + path, {
        headers: { ...spoof(SPOOFED_NAMES), cookie, authorization: 'Basic YTpi' },
      });
      const seen = platform.last('admin');
      expect(seen.path).toBe(path);
      expect(seen.headers.cookie).toBe(cookie);
      expect(seen.headers.authorization).toBe('Basic YTpi');
      expect(seen.rawHeaders).not.toContain(SPOOF);
      expect(seen.headers['x-user-subject']).toBe(path === '/config' ? undefined : 'ada');
    }
  });

  it('is the body, and other headers, unchanged', async () => {
    const body = 'x'.repeat(100_000);
    const received = await exchange(`${platform.url}/org?a=%2F`, {
      method: 'PUT',
      body,
      headers: {
        cookie: `core_session=${session}`,
        origin: platform.url,
        'content-type': 'text/x-own',
        'x-own': 'kept',
        te: 'trailers',
        'keep-alive': 'timeout=5',
      },
    });
    expect(received.status).toBe(200);
    const seen = platform.last('organizations');
    expect(seen).toMatchObject({
      method: 'PUT',
      path: '/org?a=%2F',
      httpVersion: '1.1',
      body,
    });
    expect(seen.headers).toMatchObject({ 'content-type': 'text/x-own', 'x-own': 'kept' });
    expect(seen.headers).not.toHaveProperty('te');
    expect(seen.headers).not.toHaveProperty('keep-alive');
  });
});

describe.skipIf(NGINX.isLeftOut)(
  'nginx: what reaches a backend when the check names no person',
  () => {
    it('is no identity header at all, whatever the client sends', async () => {
      const gate = await startGate((_, res) => res.writeHead(200).end());
      const names = SPOOFED_NAMES.filter((name) => !/[_.]/.test(name));
      expect((await exchange(`${gate.url}/org`, { headers: spoof(names) })).status).toBe(200);
      expect(gate.last('organizations').rawHeaders).not.toContain(SPOOF);
      await gate.stop();
    });

    it('is no spelling of an identity header that http {} would let pass', async () => {
      const gate = await startGate((_, res) => res.writeHead(200).end(), {
        http: 'underscores_in_headers on; ignore_invalid_headers off;',
      });
      for (const path of ['/org', '/openapi', '/api'])
        expect((await exchange(gate.url + path, { headers: spoof(SPOOFED_NAMES) })).status).toBe(
          200,
        );
      for (const name of ['organizations', 'redoc', 'admin'])
        expect(gate.last(name).rawHeaders).not.toContain(SPOOF);
      await gate.stop();
    });
  },
);

describe.skipIf(NGINX.isLeftOut)('nginx: what reaches the check', () => {
  let platform: Platform;
  const checks = () => platform.backend('admin').seen.filter(({ path }) => path === '/me');
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.stop());
  beforeEach(() => void platform.arrived());

  it.each([
    ['of known length', { 'content-length': '11' }, 'secret-body'],
    ['in chunks', { 'transfer-encoding': 'chunked' }, 'b\r\nsecret-body\r\n0\r\n\r\n'],
  ])(
    'is one HEAD without the body %s, which only an admitted request loses',
    async (_, headers, body) => {
      const browser = new Browser();
      await platform.signIn(browser);
      platform.arrived();
      const cookie = `core_session=${browser.cookie('localhost', 'core_session')}`;
      const lines = Object.entries({ ...headers, cookie, host: 'localhost', connection: 'close' });
      const sent = `POST /org HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
      expect(await sendRaw(platform.url, sent)).toMatch(/^HTTP\/1\.1 200 /);
      expect(checks()).toHaveLength(1);
      const [check] = checks();
      expect(check).toMatchObject({ method: 'HEAD', body: '' });
      expect(check?.headers).not.toHaveProperty('content-length');
      expect(check?.headers).not.toHaveProperty('transfer-encoding');
      expect(platform.backend('organizations').seen.map((seen) => seen.body)).toEqual([
        'secret-body',
      ]);
    },
  );

  it('is the method and the address of the request, and no forwarded name of the client', async () => {
    await exchange(`${platform.url}/org?x=%2F&y`, {
      method: 'DELETE',
      headers: { ...spoof(FORWARDED_NAMES), accept: '*/*' },
    });
    const [check] = checks();
    expect(check?.headers).toMatchObject({
      'x-original-method': 'DELETE',
      'x-original-uri': '/org?x=%2F&y',
      host: new URL(platform.url).host,
      'x-forwarded-for': '127.0.0.1',
    });
    expect(check?.rawHeaders).not.toContain(SPOOF);
  });

  it('has the request id that the backend and the answer have', async () => {
    const refused = await exchange(`${platform.url}/org`);
    expect(checks()[0]?.headers['x-request-id']).toBe(JSON.parse(refused.body).request_id);
  });

  it('has an id of its own for each request that brings none', async () => {
    const ids = new Set<unknown>();
    const raw = 'GET /org HTTP/1.1\r\nHost: localhost\r\n';
    await sendRaw(platform.url, `${raw}\r\n${raw}Connection: close\r\n\r\n`);
    await exchange(`${platform.url}/org`);
    for (const { headers } of checks()) ids.add(headers['x-request-id']);
    expect(ids.size).toBe(3);
  });

  it('is what a verdict depends on, and not what else a browser sends', async () => {
    const kept = {
      cookie: 'core_session=x',
      'content-type': 'application/json',
      'core-authorization': 'Bearer x',
      origin: platform.url,
      'sec-fetch-site': 'same-origin',
      'sec-websocket-key': 'a2V5',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'user-agent': 'browser',
    };
    const left = {
      accept: 'text/html',
      'accept-encoding': 'gzip',
      'accept-language': 'en',
      referer: platform.url,
      'sec-ch-ua': '"A";v="1"',
      'sec-fetch-mode': 'cors',
      'sec-fetch-dest': 'empty',
      'if-none-match': '"x"',
    };
    await exchange(`${platform.url}/org`, { headers: { ...kept, ...left } });
    const [check] = checks();
    expect(check?.headers).toMatchObject(kept);
    for (const name of Object.keys(left)) expect(check?.headers).not.toHaveProperty(name);
  });

  it.each([
    ['core-authorization', 'Bearer one', 'Bearer two'],
    ['core-authorization', '', 'Bearer two'],
    ['authorization', 'Bearer one', 'Bearer one'],
    ['Authorization', '', 'Bearer two'],
  ])(
    'is every copy of a bearer header, and so two are refused: %s %j %j',
    async (name, ...values) => {
      const browser = new Browser();
      await platform.signIn(browser);
      platform.arrived();
      const cookie = `core_session=${browser.cookie('localhost', 'core_session')}`;
      const lines = values.map((value) => `${name}: ${value}\r\n`).join('');
      const raw = `GET /org HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\nConnection: close\r\n`;
      // nginx itself answers two `Authorization` with 400.
      expect(await sendRaw(platform.url, `${raw}${lines}\r\n`)).toMatch(/^HTTP\/1\.1 40[01] /);
      expect(await sendRaw(platform.url, `${raw}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

  it('comes over connections that stay open', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const admin = platform.backend('admin');
    const ports = new Set<number | undefined>();
    const { answer } = admin;
    let count = 0;
    admin.answer = (seen, res) => {
      ports.add(res.socket?.remotePort);
      count += 1;
      if (count === 5) resolve();
      answer(seen, res);
    };
    for (let index = 0; index < 5; index += 1) await exchange(`${platform.url}/org`);
    await promise;
    admin.answer = answer;
    expect(ports.size).toBe(1);
  });
});

import { readFileSync } from 'node:fs';
import { SHARED_CACHE_HEADERS } from '@sallyport/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser, NAVIGATION } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import { type Answer, echo } from './backend.ts';
import { type Gate, type Platform, startGate, startPlatform } from './gate.ts';
import { NGINX } from './nginx.ts';
import { RECIPE_FOLDER } from './recipe-folder.ts';

const API = '/org/list';
const PROBLEM = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' };
/** A recipe file that waits for a backend shorter than an hour. */
const QUICK = readFileSync(new URL('protected-none.conf', RECIPE_FOLDER), 'utf8').replace(
  'proxy_read_timeout 1h;',
  'proxy_read_timeout 100ms;',
);

describe.skipIf(NGINX.isLeftOut)('nginx: refusals of the check', () => {
  let platform: Platform;
  const visitor = new Browser();
  beforeAll(async () => {
    platform = await startPlatform();
    await platform.signIn(visitor);
  });
  afterAll(() => platform.stop());
  beforeEach(() => void platform.arrived());

  it('answers a program with 401, as a problem document with the sign-in address', async () => {
    const refused = await exchange(platform.url + API, {
      headers: { accept: 'application/json', 'x-request-id': 'request-0001' },
    });
    expect(refused.status).toBe(401);
    expect(refused.headers['content-type']).toBe('application/problem+json');
    expect(refused.headers['www-authenticate']).toBe('Bearer realm="sallyport"');
    expect(refused.headers['cache-control']).toBe('no-store');
    expect(refused.location).toBeUndefined();
    expect(JSON.parse(refused.body)).toEqual({
      type: 'urn:sallyport:problem:unauthenticated',
      title: 'Sign in first',
      status: 401,
      reason: 'unauthenticated',
      login_url: `${platform.url}/login`,
      request_id: 'request-0001',
    });
    expect(platform.arrived()).toEqual([]);
  });

  it('names a bearer that is not accepted in WWW-Authenticate', async () => {
    const refused = await exchange(platform.url + API, {
      headers: { 'core-authorization': 'Bearer x.y.z' },
    });
    expect(refused.headers['www-authenticate']).toContain('error="invalid_token"');
  });

  it('draws a request id where the caller sends none that is harmless', async () => {
    const refused = await exchange(platform.url + API, { headers: { 'x-request-id': 'a","b":"' } });
    expect(JSON.parse(refused.body).request_id).toMatch(/^\d+\.\d{3}-\d+-\d+-\d+$/);
  });

  it.each([
    ['Sec-Fetch-Mode: navigate', 'GET', { 'sec-fetch-mode': 'navigate' }, 302],
    ['Accept: text/html', 'GET', { accept: 'text/html,*/*;q=0.8' }, 302],
    ['a HEAD that accepts text/html', 'HEAD', { accept: 'text/html' }, 302],
    ['no header at all', 'GET', {}, 401],
    ['Accept: application/json', 'GET', { accept: 'application/json' }, 401],
    ['Accept: */*', 'GET', { accept: '*/*' }, 401],
    ['a fetch', 'GET', { accept: 'text/html', 'sec-fetch-mode': 'cors' }, 401],
    ['an asset', 'GET', { accept: 'image/*', 'sec-fetch-mode': 'no-cors' }, 401],
    ['X-Requested-With', 'GET', { accept: 'text/html', 'x-requested-with': 'XMLHttpRequest' }, 401],
    ['a POST that accepts text/html', 'POST', { accept: 'text/html' }, 401],
    ['a navigation by POST', 'POST', { 'sec-fetch-mode': 'navigate' }, 401],
  ] as const)(
    'answers %s without a credential with the redirect or 401 it needs',
    async (_, method, headers, status) => {
      const refused = await exchange(platform.url + API, { method, headers });
      expect(refused.status).toBe(status);
      expect(refused.location).toBe(
        status === 302 ? `${platform.url}/login?redirect_url=%2Forg%2Flist` : undefined,
      );
      expect(platform.arrived()).toEqual([]);
    },
  );

  it('refuses a cookie with one character changed, and admits the right one', async () => {
    const value = visitor.cookie('localhost', 'core_session') ?? '';
    const last = value.endsWith('A') ? 'E' : 'A';
    const ask = (cookie: string) =>
      exchange(platform.url + API, { headers: { cookie: `core_session=${cookie}` } });
    expect((await ask(value)).status).toBe(200);
    expect((await ask(value.slice(0, -1) + last)).status).toBe(401);
  });

  it('answers the write of another site with 403, although the cookie is right', async () => {
    const cookie = `core_session=${visitor.cookie('localhost', 'core_session')}`;
    const write = (headers: Readonly<Record<string, string>>) =>
      exchange(platform.url + API, {
        method: 'POST',
        body: 'x=1',
        headers: { cookie, ...headers },
      });
    expect((await write({ origin: platform.url })).status).toBe(200);
    expect(platform.arrived()).toEqual([`organizations ${API}`]);
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      // What the caller says about its method counts for nothing.
      { origin: 'https://evil.example', 'x-original-method': 'GET' },
      { origin: 'https://evil.example', 'x-http-method-override': 'GET' },
    ]) {
      const refused = await write(headers);
      expect(refused.status).toBe(403);
      expect(JSON.parse(refused.body)).toMatchObject({ status: 403, reason: 'forbidden' });
    }
    expect(platform.arrived()).toEqual([]);
  });
});

describe.skipIf(NGINX.isLeftOut)('nginx: a check that decides nothing', () => {
  let gate: Gate;
  beforeAll(async () => {
    // What a server has for its own error pages must not become a verdict.
    gate = await startGate(echo, {
      server: `
        error_page 500 502 503 504 =200 /healthz;
        proxy_intercept_errors on;`,
    });
  });
  afterAll(() => gate.stop());
  beforeEach(() => void gate.arrived());

  const refuseWith =
    (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
    (_, res) => {
      res.writeHead(status, headers);
      res.end();
    };

  it.each([
    [302, { location: '/elsewhere' }],
    [404, {}],
    [429, { 'retry-after': '30' }],
    [500, {}],
    [502, {}],
    [503, { 'retry-after': '7' }],
  ])('answers 503 and asks no backend when the check answers %d', async (status, headers) => {
    gate.backend('admin').answer = refuseWith(status, headers);
    for (const caller of [{ accept: 'application/json' }, NAVIGATION]) {
      const refused = await exchange(gate.url + API, { headers: caller });
      expect(refused.status).toBe(503);
      expect(refused.headers['retry-after']).toBe(
        'retry-after' in headers ? headers['retry-after'] : '5',
      );
      expect(refused.headers['cache-control']).toBe('no-store');
      expect(JSON.parse(refused.body)).toMatchObject({ status: 503, reason: 'undecided' });
    }
    expect(gate.arrived()).toEqual([]);
  });

  it('answers 503 and asks no backend when the check breaks off, and when it is down', async () => {
    gate.backend('admin').answer = (_, res) => res.destroy();
    expect((await exchange(gate.url + API)).status).toBe(503);
    await gate.backend('admin').close();
    const refused = await exchange(gate.url + API, { method: 'POST', body: 'x' });
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.body)).toMatchObject({ reason: 'undecided' });
    expect(gate.arrived()).toEqual([]);
  });
});

describe.skipIf(NGINX.isLeftOut)('nginx: a check that says who may not enter', () => {
  let gate: Gate;
  beforeAll(async () => {
    gate = await startGate(echo);
  });
  afterAll(() => gate.stop());

  it.each([401, 403])('is believed, %d, although the server satisfies any rule', async (status) => {
    const open = await startGate((_, res) => res.writeHead(status).end(), {
      server: 'satisfy any; allow all;',
    });
    expect((await exchange(open.url + API)).status).toBe(status);
    expect(open.arrived()).toEqual([]);
    await open.stop();
  });

  it.each([
    [401, {}, 401, 'application/problem+json'],
    [401, NAVIGATION, 302, 'text/html'],
    [403, {}, 403, 'application/problem+json'],
    [403, NAVIGATION, 403, 'text/html'],
    [503, {}, 503, 'application/problem+json'],
  ])(
    'has its %d to %j sent as %d, never stored, as %s whatever the path ends in',
    async (verdict, headers, status, type) => {
      gate.backend('admin').answer = (_, res) => res.writeHead(verdict).end();
      for (const ending of ['', '.html', '.jpg']) {
        const refused = await exchange(`${gate.url}/org/x${ending}`, { headers });
        expect(refused.status).toBe(status);
        expect(refused.headers['cache-control']).toBe('no-store');
        expect(refused.headers['content-type']).toBe(type);
      }
    },
  );

  it.each([
    ['/login?redirect_url=%2Forg', '/login?redirect_url=%2Forg'],
    ['https://platform.example/login', 'https://platform.example/login'],
    [undefined, 'PUBLIC/login'],
  ])('has its Location %s sent on to a navigation as it is', async (location, expected) => {
    gate.backend('admin').answer = (_, res) =>
      res.writeHead(401, location === undefined ? {} : { location }).end();
    const refused = await exchange(gate.url + API, { headers: NAVIGATION });
    expect(refused.location).toBe(expected.replace('PUBLIC', gate.url));
  });

  it('shows a page to a navigation that the check answers with 403', async () => {
    gate.backend('admin').answer = (_, res) => res.writeHead(403).end();
    const refused = await exchange(gate.url + API, { headers: NAVIGATION });
    expect(refused.status).toBe(403);
    expect(refused.headers['content-type']).toBe('text/html');
    expect(refused.headers['content-security-policy']).toContain("default-src 'none'");
    expect(refused.headers['x-content-type-options']).toBe('nosniff');
    expect(refused.body).toContain('You may not open this');
    const program = await exchange(gate.url + API);
    expect(program.headers['content-type']).toBe('application/problem+json');
    expect(gate.arrived()).toEqual([]);
  });
});

describe.skipIf(NGINX.isLeftOut)('nginx: what a backend says itself', () => {
  let gate: Gate;
  beforeAll(async () => {
    gate = await startGate((_, res) => res.writeHead(200).end(), {
      files: new Map([['protected-none.conf', QUICK]]),
      // What a server has for its own error pages must not replace what a backend says.
      server: `
        proxy_intercept_errors on;
        error_page 404 500 /healthz;
        proxy_buffer_size 16k;
        proxy_buffers 8 16k;`,
    });
  });
  afterAll(() => gate.stop());

  it.each([301, 401, 403, 404, 418, 500, 502, 503, 504])(
    'passes a %d of the backend on unchanged',
    async (status) => {
      gate.backend('organizations').answer = (_, res) => {
        res.writeHead(status, {
          'content-type': 'text/x-backend',
          'www-authenticate': 'Basic realm="backend"',
          location: '/relative?x=1',
        });
        res.end(`said ${status}`);
      };
      for (const headers of [NAVIGATION, { accept: 'application/json' }]) {
        const received = await exchange(gate.url + API, { headers });
        expect(received.status).toBe(status);
        expect(received.body).toBe(`said ${status}`);
        expect(received.headers['content-type']).toBe('text/x-backend');
        expect(received.headers['www-authenticate']).toBe('Basic realm="backend"');
        expect(received.location).toBe('/relative?x=1');
      }
    },
  );

  it.each(['http://sallyport_organizations/x', 'https://other.example/', 'x'])(
    'passes the Location %s on unchanged',
    async (location) => {
      gate.backend('organizations').answer = (_, res) => res.writeHead(302, { location }).end();
      expect((await exchange(gate.url + API)).location).toBe(location);
    },
  );

  it('passes headers of 12,000 bytes on, with the buffers the README gives for them', async () => {
    const long = 'x'.repeat(12_000);
    gate.backend('organizations').answer = (_, res) => res.writeHead(200, { 'x-long': long }).end();
    expect((await exchange(gate.url + API)).headers['x-long']).toBe(long);
  });

  it('answers 504 for a backend that does not answer in time', async () => {
    gate.backend('organizations').answer = () => {};
    const received = await exchange(`${gate.url}/org/x.html`);
    expect(received.status).toBe(504);
    expect(received.headers).toMatchObject(PROBLEM);
    expect(JSON.parse(received.body)).toMatchObject({ status: 504, reason: 'upstream_timeout' });
  });

  it('follows no redirect that a backend asks nginx to make inside', async () => {
    gate.backend('organizations').answer = (_, res) => {
      res.writeHead(200, { 'x-accel-redirect': '/healthz' });
      res.end('mine');
    };
    expect((await exchange(gate.url + API)).body).toBe('mine');
  });

  it('answers 502 for a backend that is down, to the admitted alone', async () => {
    await gate.backend('identity').close();
    const received = await exchange(`${gate.url}/users/x.html`);
    expect(received.status).toBe(502);
    expect(received.headers).toMatchObject(PROBLEM);
    expect(JSON.parse(received.body)).toMatchObject({
      status: 502,
      reason: 'upstream_unreachable',
    });
    gate.backend('admin').answer = (_, res) => res.writeHead(401).end();
    expect((await exchange(`${gate.url}/users`)).status).toBe(401);
  });
});

describe.skipIf(NGINX.isLeftOut)('nginx: the slide of the session cookie', () => {
  const SLIDE = 'core_session=slid; Path=/; Max-Age=600; HttpOnly; SameSite=Lax';
  let gate: Gate;
  beforeAll(async () => {
    gate = await startGate((_, res) => res.writeHead(200, { 'set-cookie': SLIDE }).end());
  });
  afterAll(() => gate.stop());

  it.each([200, 304, 404, 500])(
    'reaches the client when the backend answers %d (with a check that slides at every request)',
    async (status) => {
      gate.backend('organizations').answer = (_, res) => res.writeHead(status).end();
      const received = await exchange(gate.url + API);
      expect(received.status).toBe(status);
      expect(received.setCookies).toEqual([SLIDE]);
    },
  );

  it('stands beside the cookies of the backend', async () => {
    gate.backend('organizations').answer = (_, res) =>
      res.writeHead(200, { 'set-cookie': ['a=1', 'b=2'] }).end();
    expect((await exchange(gate.url + API)).setCookies).toEqual(['a=1', 'b=2', SLIDE]);
  });

  it('is in no answer that a shared cache may keep, whatever the backend grants', async () => {
    gate.backend('organizations').answer = (_, res) =>
      res
        .writeHead(200, {
          'cache-control': 'public, max-age=60',
          'x-own': 'kept',
          ...Object.fromEntries(SHARED_CACHE_HEADERS.map((name) => [name, 'max-age=60'])),
        })
        .end();
    const { headers } = await exchange(gate.url + API);
    expect(headers['cache-control']).toBe('public, max-age=60, private, no-store');
    expect(headers['x-own']).toBe('kept');
    for (const name of SHARED_CACHE_HEADERS) expect(headers).not.toHaveProperty(name);
  });

  it('is what makes it so: an answer without it keeps its Cache-Control', async () => {
    const { answer } = gate.backend('admin');
    gate.backend('admin').answer = (_, res) => res.writeHead(200).end();
    gate.backend('organizations').answer = (_, res) =>
      res.writeHead(200, { 'cache-control': 'public, max-age=60' }).end();
    const { headers } = await exchange(gate.url + API);
    gate.backend('admin').answer = answer;
    expect(headers['cache-control']).toBe('public, max-age=60');
  });

  it('reaches the client when the backend is down', async () => {
    await gate.backend('organizations').close();
    const received = await exchange(gate.url + API);
    expect(received.status).toBe(502);
    expect(received.setCookies).toEqual([SLIDE]);
  });

  it.each([
    [401, {}],
    [302, NAVIGATION],
    [403, {}],
    [403, NAVIGATION],
  ] as const)('is kept on a refusal with %d', async (status, headers) => {
    const verdict = status === 403 ? 403 : 401;
    gate.backend('admin').answer = (_, res) =>
      res.writeHead(verdict, { 'set-cookie': SLIDE, location: `${gate.url}/login` }).end();
    const received = await exchange(gate.url + API, { headers });
    expect(received.status).toBe(status);
    expect(received.setCookies).toEqual([SLIDE]);
  });

  it('is absent where the check sets none, whatever the client sends', async () => {
    gate.backend('admin').answer = (_, res) => res.writeHead(401).end();
    const received = await exchange(gate.url + API, { headers: { 'set-cookie': SLIDE } });
    expect(received.setCookies).toEqual([]);
  });
});

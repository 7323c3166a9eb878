import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser, NAVIGATION } from '../../conformance/wire/browser.ts';
import { exchange } from '../../conformance/wire/exchange.ts';
import { type Platform, sendRaw, startPlatform } from './gate.ts';
import { NGINX } from './nginx.ts';

/** Spellings of protected paths, and of paths that a backend could read as protected. */
const DISGUISED = [
  '/api',
  '/api/v1/projects',
  '//api',
  '///api//v1',
  '/./api',
  '/%61pi',
  '/%2561pi',
  '/API',
  '/api;x=1',
  '/login/../api',
  '/login/..%2fapi',
  '/login/..%2Fapi',
  '/login%2f..%2fapi',
  '/login/%2e%2e/api',
  '/login/%2e%2e%2fapi',
  '/login/.%2e/api',
  '/login/x/../../api',
  '/login/..;/api',
  '/login/;/../api',
  '/login//../api',
  '/login/..%5capi',
  '/login/..\\api',
  '/login/%252e%252e/api',
  '/me/../org',
  '/me/..%2forg',
  '/public/../api',
  '/openapi/../org',
  '/openapi/..%2forg',
  '/healthz/../console',
  '/.well-known/../org',
  '/.well-known/..%2f..%2forg',
  '/org/../login',
  '/org/..%2flogin',
  '/api/../login',
  '/api/..%2flogin',
  '/api/v1/../../openapi',
  '/org/../openapi',
  '/org/%2e%2e/openapi',
  '/x/..//openapi',
  '//openapi',
  '/./openapi',
  '/openapi/.',
  '/openapi/..',
  '/openapi/%00',
  '/openapi%00',
  '/open%61pi',
  '/OPENAPI',
  '/Login',
  '/LOGIN',
  '/openapix',
  '/openapi.json',
  '/loginx',
  '/_sallyport/check',
  '/%5fsallyport/check',
  '/sallyport_401_page',
  '/@sallyport_guarded',
];

describe.skipIf(NGINX.isLeftOut)('nginx: a path in another spelling', () => {
  let platform: Platform;
  const ask = async (target: string, cookie = '', host = 'localhost') => {
    const answer = await sendRaw(
      platform.url,
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${cookie === '' ? '' : `Cookie: ${cookie}\r\n`}Connection: close\r\n\r\n`,
    );
    return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
  };
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.stop());
  beforeEach(() => void platform.arrived());

  it.each(DISGUISED)('reaches no backend without a session: %s', async (path) => {
    const { url } = platform;
    const targets = [path, `${path}?x=/openapi`, url + path, `http://other.example${path}`];
    for (const target of targets) {
      expect([400, 401, 404]).toContain(await ask(target));
    }
    expect(platform.arrived()).toEqual([]);
  });

  it.each(['/org#/openapi', '/openapi#/../org', '/openapi#', '/org?x#y'])(
    'reaches no backend with a fragment, not even for who has a session: %s',
    async (path) => {
      const visitor = new Browser();
      await platform.signIn(visitor);
      platform.arrived();
      const cookie = `core_session=${visitor.cookie('localhost', 'core_session')}`;
      expect(await ask(path, cookie)).toBe(400);
      expect(await ask(path)).toBe(400);
      expect(platform.arrived()).toEqual([]);
    },
  );

  it('is answered as any protected path is, when it looks open', async () => {
    const address = `${platform.url}/openapi/%61?x`;
    const page = await exchange(address, { headers: NAVIGATION });
    expect(page.status).toBe(302);
    expect(page.location).toBe(`${platform.url}/login?redirect_url=%2Fopenapi%2F%2561%3Fx`);
    const program = await exchange(address, { method: 'POST', body: 'x' });
    expect(program.status).toBe(401);
    expect(JSON.parse(program.body)).toMatchObject({ reason: 'unauthenticated' });
  });

  it.each([
    ['/openapi', 'redoc'],
    ['/openapi/v1/x-y_z~.json', 'redoc'],
    ['/openapi?x=/../api&y=%2e%2e', 'redoc'],
    ['/healthz', 'console'],
    ['/.well-known/oauth-authorization-server', 'admin'],
    ['/enqueue_stripe_request/v1', 'usage'],
  ])('leaves the open path %s open', async (path, backend) => {
    expect(await ask(path)).toBe(200);
    expect(platform.arrived()).toEqual([`${backend} ${path}`]);
  });

  it.each([
    ['/openapi/../org?x', 'organizations'],
    ['/config/..%2fapi', 'admin'],
    ['//api//v1', 'admin'],
    ['/openapi/%61', 'console'],
    ['/login;x', 'console'],
    ['/api/../login', 'console'],
    ['/enqueue_stripe_request', 'console'],
    ['/api/v1/dataproxy/x', 'dataproxy'],
    ['/api/v1/dataproxyx', 'admin'],
  ])('arrives as it was sent, for a person with a session: %s', async (path, backend) => {
    const visitor = new Browser();
    await platform.signIn(visitor);
    platform.arrived();
    const cookie = `core_session=${visitor.cookie('localhost', 'core_session')}`;
    expect(await ask(path, cookie)).toBe(200);
    expect(platform.arrived()).toEqual([`${backend} ${path}`]);
  });

  it.each(['TRACE', 'CONNECT', 'get', 'G ET'])('refuses the method %s', async (method) => {
    const answer = await sendRaw(
      platform.url,
      `${method} /openapi HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 (?:400|405) /);
    expect(platform.arrived()).toEqual([]);
  });

  it.each(['OPTIONS', 'HEAD', 'POST', 'PROPFIND'])(
    'asks the check for the method %s too',
    async (method) => {
      const answer = await sendRaw(
        platform.url,
        `${method} /org HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
      expect(platform.arrived()).toEqual([]);
    },
  );
});

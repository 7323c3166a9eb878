import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken, BEARER_HEADER } from '../wire/bearer.ts';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { callGrpc } from '../wire/grpc.ts';
import { type Service, startHostedService } from '../wire/platform.ts';

let service: Service;
let cookie: string;
beforeAll(async () => {
  service = await startHostedService();
  const browser = new Browser();
  await service.signIn(browser);
  cookie = `core_session=${browser.cookie('localhost', 'core_session')}`;
});
afterAll(() => service.stop());

const USER_INFO = '/flyteidl2.auth.IdentityService/UserInfo';
const token = (claims: object = {}) => accessToken(service.idp, service.url, claims);
const me = (headers: Readonly<Record<string, string | readonly string[]>>) =>
  exchange(`${service.url}/me`, { headers });
const userInfo = (headers: Readonly<Record<string, string>>) =>
  callGrpc(service.url + USER_INFO, { headers });

describe('A bearer decides alone', () => {
  it('a good bearer is who the caller is, whatever cookie stands beside it', async () => {
    const answer = await me({ [BEARER_HEADER]: `Bearer ${await token({ sub: 'robot' })}`, cookie });
    expect([answer.status, answer.headers['x-user-subject']]).toEqual([200, 'robot']);
  });

  it('a bad bearer is refused beside a good cookie', async () => {
    expect((await me({ cookie })).status).toBe(200);
    expect((await me({ cookie, [BEARER_HEADER]: 'Bearer bad' })).status).toBe(401);
    expect((await userInfo({ cookie, [BEARER_HEADER]: 'Bearer bad' })).status).toBe(16);
  });

  it('a bearer without the scope is forbidden beside a good cookie', async () => {
    const bearer = `Bearer ${await token({ scope: 'other' })}`;
    expect((await me({ cookie, [BEARER_HEADER]: bearer })).status).toBe(403);
  });

  it('another scheme and an empty value count as absent', async () => {
    for (const value of ['Basic YTpi', '', 'Bearer', 'Bearer ', 'Digest x']) {
      expect((await me({ cookie, [BEARER_HEADER]: value })).status, value).toBe(200);
      expect((await me({ [BEARER_HEADER]: value })).status, value).toBe(401);
    }
  });
});

describe('A service app of its own per component', () => {
  it('each of several service apps enters as itself', async () => {
    for (const app of ['control-plane-app', 'data-plane-app']) {
      const bearer = `Bearer ${await token({ sub: app, client_id: app })}`;
      const answer = await me({ [BEARER_HEADER]: bearer });
      expect([answer.status, answer.headers['x-user-subject']]).toEqual([200, app]);
      const without = `Bearer ${await token({ sub: app, client_id: app, scope: 'other' })}`;
      expect((await me({ [BEARER_HEADER]: without })).status).toBe(403);
    }
  });
});

describe('Two bearers are no bearer', () => {
  it('the same one in both headers is admitted', async () => {
    const bearer = `Bearer ${await token()}`;
    expect((await me({ [BEARER_HEADER]: bearer, authorization: bearer })).status).toBe(200);
    expect((await userInfo({ [BEARER_HEADER]: bearer, authorization: bearer })).status).toBe(0);
  });

  it('two different good ones are ambiguous on HTTP and gRPC', async () => {
    const one = `Bearer ${await token()}`;
    const other = `Bearer ${await token({ sub: 'grace' })}`;
    const answer = await me({ [BEARER_HEADER]: one, authorization: other });
    expect([answer.status, JSON.parse(answer.body).reason]).toEqual([401, 'ambiguous_credentials']);
    expect((await userInfo({ [BEARER_HEADER]: one, authorization: other })).status).toBe(16);
  });

  it('a repeated header is ambiguous, even with the same value', async () => {
    const bearer = `Bearer ${await token()}`;
    expect(await meWithRawHeaders([BEARER_HEADER, bearer, BEARER_HEADER, bearer])).toBe(401);
    expect(await meWithRawHeaders([BEARER_HEADER, bearer])).toBe(200);
  });
});

describe('The scheme is matched without regard to case', () => {
  it.each(['bearer', 'BEARER', 'Bearer'])('%s', async (scheme) => {
    expect((await me({ [BEARER_HEADER]: `${scheme} ${await token()}` })).status).toBe(200);
    expect((await me({ [BEARER_HEADER]: `${scheme} nothing` })).status).toBe(401);
  });
});

describe('Audiences: auth.authorizedUris, the in-cluster addresses of the admin service', () => {
  let inCluster: Service;
  let elsewhere: Service;
  beforeAll(async () => {
    inCluster = await startHostedService({}, [], undefined, [
      'auth:',
      '  authorizedUris:',
      '    - http://core-admin:80',
      '    - http://core-admin.cloud-cp.svc.cluster.local:80',
    ]);
    elsewhere = await startHostedService();
  });
  afterAll(async () => {
    await inCluster.stop();
    await elsewhere.stop();
  });
  const status = async (aud: string, { url, idp } = inCluster) => {
    const bearer = await accessToken(idp, url, { aud });
    const headers = { [BEARER_HEADER]: `Bearer ${bearer}` };
    return (await exchange(`${url}/me`, { headers })).status;
  };
  const ADDRESSES = [
    'http://core-admin:80',
    'http://core-admin',
    'http://core-admin.cloud-cp.svc.cluster.local:80',
    'http://core-admin.cloud-cp.svc.cluster.local',
  ];

  it.each(ADDRESSES)('%s is one, port 80 written or not', async (aud) => {
    expect(await status(aud)).toBe(200);
  });

  it.each([
    'http://core-admin:81',
    'http://core-admin:443',
    'https://core-admin',
    'https://core-admin:80',
    'http://core-admin.other.svc.cluster.local:80',
    'http://core-admin.cloud-cp:80',
  ])('%s, of another port, scheme or host, is none', async (aud) => {
    expect(await status(aud)).toBe(401);
  });

  it.each([
    'HTTP://core-admin',
    'http://Core-Admin:80',
    'http://core-admin:080',
    'http://core-admin:',
    'http://core-admin//',
    'http://core-admin/x/..',
    'http://core-admin/.',
    'http://core-admin/%2e',
    'http://core%2dadmin',
    'http://@core-admin',
    'http://:@core-admin:80',
    'http://core-admin?',
    'http://core-admin#',
    ' http://core-admin',
    'http:core-admin',
    String.raw`http:\\core-admin`,
  ])('%s, which only a reader of URLs takes for one, is none', async (aud) => {
    expect(await status(aud)).toBe(401);
  });

  it('the public URL is one with and without a slash, and in no other spelling of its address', async () => {
    const { url } = inCluster;
    expect(await status(url)).toBe(200);
    expect(await status(`${url}/`)).toBe(200);
    const { port } = new URL(url);
    for (const host of [
      'LOCALHOST',
      'Localhost',
      'local%68ost',
      '@localhost',
      'localhost.',
      '127.1',
    ])
      expect(await status(`http://${host}:${port}`)).toBe(401);
  });

  it.each(ADDRESSES)('%s is none where it is not listed', async (aud) => {
    expect(await status(aud, elsewhere)).toBe(401);
    expect(await status(elsewhere.url, elsewhere)).toBe(200);
  });

  it('what is no URL is reported with file, line and key, and nothing starts', async () => {
    const failed = startHostedService({}, [], undefined, [
      'auth:',
      '  authorizedUris:',
      '    - core-admin',
    ]);
    await expect(failed).rejects.toThrow(/:3: auth\.authorizedUris\[0\]: found "core-admin"/);
  });
});

/** Names and values as they are to stand on the wire, repetitions included. */
function meWithRawHeaders(headers: readonly string[]): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const { port, host } = new URL(service.url);
  const request = httpRequest({ host: '127.0.0.1', port, path: '/me', agent: false });
  request.on('error', reject);
  request.on('response', (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  request.setHeader('host', host);
  for (let index = 0; index < headers.length; index += 2)
    request.appendHeader(headers[index] ?? '', headers[index + 1] ?? '');
  request.end();
  return promise;
}

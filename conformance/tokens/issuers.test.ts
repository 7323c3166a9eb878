import { type FakeIdp, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken, BEARER_HEADER } from '../wire/bearer.ts';
import { Browser } from '../wire/browser.ts';
import { exchange, type Received } from '../wire/exchange.ts';
import { rs256 } from '../wire/forge.ts';
import { callGrpc } from '../wire/grpc.ts';
import { type Service, startHostedService, WEB_CLIENT_ID } from '../wire/platform.ts';

const USER_INFO = '/flyteidl.service.IdentityService/UserInfo';

const me = (service: Service, bearer: string): Promise<Received> =>
  exchange(`${service.url}/me`, { headers: { [BEARER_HEADER]: `Bearer ${bearer}` } });
const grpcStatus = async (service: Service, bearer: string): Promise<number> =>
  (
    await callGrpc(service.url + USER_INFO, {
      headers: { [BEARER_HEADER]: `Bearer ${bearer}` },
    })
  ).status;

describe('Tokens of two issuers', () => {
  let service: Service;
  let other: FakeIdp;
  beforeAll(async () => {
    other = await startFakeIdp('nobody');
    service = await startHostedService({}, [], undefined, [
      'bearer:',
      '  subjectPrefix: "first:"',
      '  issuers:',
      `    - issuer: ${other.issuer}`,
      '      subjectPrefix: "second:"',
    ]);
  });
  afterAll(async () => {
    await service.stop();
    await other.close();
  });

  it('each is admitted with its own key, as a principal of its own', async () => {
    const subjects = [];
    for (const idp of [service.idp, other]) {
      const answer = await me(service, await accessToken(idp, service.url));
      subjects.push([
        answer.status,
        answer.headers['x-user-subject'],
        answer.headers['x-user-issuer'],
        JSON.parse(answer.body).subject,
      ]);
    }
    expect(subjects).toEqual([
      [200, 'first:ada', service.idp.issuer, 'first:ada'],
      [200, 'second:ada', other.issuer, 'second:ada'],
    ]);
  });

  it('the sign-in of the first issuer gives the same principal as its tokens', async () => {
    const browser = new Browser();
    await service.signIn(browser);
    const cookie = `core_session=${browser.cookie('localhost', 'core_session')}`;
    const answer = await exchange(`${service.url}/me`, { headers: { cookie } });
    expect(answer.headers['x-user-subject']).toBe('first:ada');
  });

  it("one issuer's key on the other's claims is refused on HTTP and gRPC", async () => {
    const crossed = [
      await accessToken(service.idp, service.url, {}, {}, rs256(other.signingKey)),
      await accessToken(other, service.url, {}, {}, rs256(service.idp.signingKey)),
      await accessToken(other, service.url, { iss: service.idp.issuer }),
    ];
    for (const bearer of crossed) {
      expect((await me(service, bearer)).status).toBe(401);
      expect(await grpcStatus(service, bearer)).toBe(16);
    }
  });

  it('without a prefix for each, two issuers are a start error that names the key', async () => {
    const failure = await startHostedService({}, [], undefined, [
      'bearer:',
      '  issuers:',
      `    - issuer: ${other.issuer}`,
    ]).then(
      () => 'it started',
      (error: unknown) => String(error),
    );
    expect(failure).toContain('subjectPrefix');
  });
});

describe('externalAuthServer.baseUrl and userAuth.openId.baseUrl may differ', () => {
  let service: Service;
  let apps: FakeIdp;
  beforeAll(async () => {
    apps = await startFakeIdp('nobody');
    service = await startHostedService({}, [], undefined, [
      'auth:',
      '  appAuth:',
      '    externalAuthServer:',
      `      baseUrl: ${apps.issuer}`,
      '  userAuth:',
      '    subjectPrefix: "people:"',
      'bearer:',
      '  subjectPrefix: "apps:"',
    ]);
  });
  afterAll(async () => {
    await service.stop();
    await apps.close();
  });

  it('metadata and bearer follow the first', async () => {
    const metadata = await exchange(`${service.url}/.well-known/oauth-authorization-server`);
    expect(JSON.parse(metadata.body).token_endpoint).toBe(`${apps.issuer}/token`);
    expect((await me(service, await accessToken(apps, service.url))).status).toBe(200);
    expect((await me(service, await accessToken(service.idp, service.url))).status).toBe(401);
  });

  it('one subject of both is two people to a backend', async () => {
    const token = await me(service, await accessToken(apps, service.url));
    const browser = new Browser();
    await service.signIn(browser);
    const cookie = `core_session=${browser.cookie('localhost', 'core_session')}`;
    const session = await exchange(`${service.url}/me`, { headers: { cookie } });
    expect([token, session].map(({ headers }) => headers['x-user-subject'])).toEqual([
      'apps:ada',
      'people:ada',
    ]);
  });

  it('without a prefix of its own for the sign-in it is a start error that names the key', async () => {
    const failure = await startHostedService({}, [], undefined, [
      'auth:',
      '  appAuth:',
      '    externalAuthServer:',
      `      baseUrl: ${apps.issuer}`,
      'bearer:',
      '  subjectPrefix: "apps:"',
    ]).then(
      () => 'it started',
      (error: unknown) => String(error),
    );
    expect(failure).toContain('auth.userAuth.subjectPrefix');
  });

  it('sign-in and openid-configuration follow the second', async () => {
    const login = await exchange(`${service.url}/login`);
    expect(login.location).toMatch(new RegExp(`^${service.idp.issuer}/authorize\\?`));
    const document = await exchange(`${service.url}/.well-known/openid-configuration`);
    expect(JSON.parse(document.body).issuer).toBe(service.idp.issuer);
  });
});

describe('Keys of an issuer', () => {
  it('a flood of unknown key ids causes five fetches of the key set in a minute at most, and what they do not decide is answered 503', async () => {
    const service = await startHostedService();
    expect((await me(service, await accessToken(service.idp, service.url))).status).toBe(200);
    const before = service.idp.counts.jwks;
    for (let index = 0; index < 50; index += 1) {
      const bearer = await accessToken(service.idp, service.url, {}, { kid: `k${index + 2}` });
      const fetchesBefore = service.idp.counts.jwks;
      const answer = await me(service, bearer);
      if (service.idp.counts.jwks > fetchesBefore) expect(answer.status).toBe(401);
      else {
        expect(answer.status).toBe(503);
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      }
    }
    expect(service.idp.counts.jwks - before).toBeLessThanOrEqual(5);
    await service.stop();
  });

  it('a token of a key taken into use right after a forged one had the keys fetched is never refused', async () => {
    const service = await startHostedService();
    const pair = await generateKeyPair('RS256', { extractable: true });
    const forger = await generateKeyPair('RS256');
    const signed = (key: CryptoKey, jti: string) =>
      accessToken(service.idp, service.url, { jti }, { kid: 'k2' }, rs256(key));
    expect((await me(service, await signed(forger.privateKey, 'forged'))).status).toBe(401);
    const jwk = await exportJWK(pair.publicKey);
    service.idp.keys = [{ ...jwk, kid: 'k2', alg: 'RS256', use: 'sig' }];
    const honest = await signed(pair.privateKey, 'honest');
    const statuses: number[] = [];
    await expect
      .poll(async () => {
        const { status } = await me(service, honest);
        statuses.push(status);
        return status;
      })
      .toBe(200);
    expect(statuses).not.toContain(401);
    await service.stop();
  });

  it('tokens are verified while the issuer is down, and refused as before', async () => {
    const service = await startHostedService();
    expect((await me(service, await accessToken(service.idp, service.url))).status).toBe(200);
    await service.idp.goDown();
    const fresh = await accessToken(service.idp, service.url, { jti: 'made during the outage' });
    expect((await me(service, fresh)).status).toBe(200);
    const forged = await accessToken(service.idp, service.url, {}, { alg: 'none' });
    expect((await me(service, forged)).status).toBe(401);
    await service.stop();
  });

  it('without keys tokens are undecided: 503 and UNAVAILABLE, never an admission, and the service recovers by itself', async () => {
    const idp = await startFakeIdp(WEB_CLIENT_ID);
    await idp.goDown();
    const service = await startHostedService({}, [], idp);
    const bearer = await accessToken(idp, service.url);
    const answer = await me(service, bearer);
    expect([answer.status, JSON.parse(answer.body).reason]).toEqual([503, 'issuer_unavailable']);
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    expect(await grpcStatus(service, bearer)).toBe(14);
    await idp.comeUp();
    const seen = idp.nextRequest('/jwks');
    let last = await me(service, bearer);
    while (last.status === 503) last = await me(service, bearer);
    await seen;
    expect(last.status).toBe(200);
    await service.stop();
  });
});

describe('Access rules stand on bearers too', () => {
  it('with client ids, other applications and none of the people are kept out', async () => {
    const service = await startHostedService({}, [], undefined, [
      'access:',
      '  clientIds: [robot]',
    ]);
    const app = (id: string) =>
      accessToken(service.idp, service.url, { sub: id, client_id: id, scope: 'all' });
    expect((await me(service, await app('robot'))).status).toBe(200);
    expect((await me(service, await app('other'))).status).toBe(403);
    expect(await grpcStatus(service, await app('other'))).toBe(7);
    expect((await me(service, await accessToken(service.idp, service.url))).status).toBe(200);
    await service.stop();
  });

  it('with groups, an application enters only by its client id', async () => {
    const service = await startHostedService({}, [], undefined, ['access:', '  groups: [staff]']);
    const bearer = (claims: object) => accessToken(service.idp, service.url, claims);
    expect((await me(service, await bearer({ groups: ['staff'] }))).status).toBe(200);
    expect((await me(service, await bearer({ groups: ['guests'] }))).status).toBe(403);
    expect((await me(service, await bearer({ sub: 'robot', client_id: 'robot' }))).status).toBe(
      403,
    );
    await service.stop();
  });
});

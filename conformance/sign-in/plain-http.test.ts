import { startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessToken, BEARER_HEADER } from '../wire/bearer.ts';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { type Service, startHostedService, WEB_CLIENT_ID } from '../wire/platform.ts';

/** Of this machine, and not what the product counts as its loopback: as good as another host. */
const ELSEWHERE = '127.0.0.2';
const ALLOW = 'SALLYPORT_DANGEROUSLY_ALLOW_PLAIN_HTTP_TO';

const startWith = async (allow: (issuer: string) => Readonly<Record<string, string>>) => {
  const idp = await startFakeIdp(WEB_CLIENT_ID, { host: ELSEWHERE });
  return startHostedService(allow(idp.issuer), [], idp).catch(async (error: unknown) => {
    await idp.close();
    throw error;
  });
};

describe('An identity provider on plain http beyond the loopback', () => {
  it.each<readonly [string, (issuer: string) => Readonly<Record<string, string>>]>([
    ['without a setting', () => ({})],
    ['where another origin is allowed', () => ({ [ALLOW]: `http://${ELSEWHERE}:1` })],
  ])('%s is refused at the start, and the setting is named', async (_, allow) => {
    await expect(startWith(allow)).rejects.toThrow(
      /OIDC_BASE_URL.*dangerouslyAllowPlainHttpTo: \[http:\/\/127\.0\.0\.2:\d+\] allows it/,
    );
  });
});

describe('An identity provider on plain http that dangerouslyAllowPlainHttpTo names', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startWith((issuer) => ({ [ALLOW]: issuer }));
  });
  afterAll(() => service.stop());

  it('signs people in, verifies bearer tokens and is in the metadata for clients', async () => {
    const browser = new Browser();
    const signedIn = await service.signIn(browser);
    expect(signedIn.status).toBe(302);
    const cookie = `core_session=${browser.cookie('localhost', 'core_session')}`;
    expect((await exchange(`${service.url}/me`, { headers: { cookie } })).status).toBe(200);
    const bearer = `Bearer ${await accessToken(service.idp, service.url)}`;
    const answer = await exchange(`${service.url}/me`, { headers: { [BEARER_HEADER]: bearer } });
    expect(answer.status).toBe(200);
    const metadata = await exchange(`${service.url}/.well-known/oauth-authorization-server`);
    expect(JSON.parse(metadata.body)).toMatchObject({ issuer: service.idp.issuer });
  });

  it('is warned of at each start', async () => {
    const warnings = () =>
      service.running
        .stdout()
        .split('\n')
        .concat(service.running.stderr().split('\n'))
        .filter(
          (line) => line.includes('can be read on the way') && line.includes(service.idp.issuer),
        );
    expect(warnings()).toHaveLength(1);
    await service.running.stop();
    service = await service.restart();
    expect(warnings()).toHaveLength(1);
  });
});

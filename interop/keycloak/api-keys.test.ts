import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../conformance/wire/process.ts';
import { KEYCLOAK } from './keycloak-part.ts';
import { makeRealm, type Realm } from './realm.ts';

const PUBLIC_URL = 'https://platform.example.com';

interface Listed {
  readonly keys: readonly { readonly clientId: string; readonly organization: string }[];
}

describe.skipIf(KEYCLOAK.isLeftOut)('Keycloak: API keys of task pods', () => {
  let realm: Realm;
  let before: string;
  const apikey = (...args: readonly string[]) =>
    run(['apikey', ...args, '--issuer', realm.issuer, '--public-url', PUBLIC_URL], {
      SALLYPORT_IDP_ADMIN_PASSWORD: realm.adminPassword,
    });
  const create = (organization: string) =>
    apikey('create', '--organization', organization, '--cluster', 'east-1');
  const list = async (): Promise<Listed['keys']> =>
    (JSON.parse((await apikey('list', '--json')).stdout) as Listed).keys;
  const tokenOf = async (key: string) => {
    const [, clientId = '', clientSecret = ''] = Buffer.from(key, 'base64').toString().split(':');
    const response = await fetch(`${realm.issuer}/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        scope: 'all',
        client_id: clientId,
        client_secret: clientSecret,
      }),
    });
    const { access_token: token = '' } = (await response.json()) as {
      readonly access_token?: string;
    };
    const [, claims = ''] = token.split('.');
    return { status: response.status, claims: Buffer.from(claims, 'base64url').toString() };
  };

  beforeAll(async () => {
    realm = await makeRealm();
    before = await realm.snapshot();
  }, 400_000);
  afterAll(() => realm.remove());

  it('are refused in a realm that is not set up, and nothing is left there', async () => {
    const { code, stderr } = await create('acme');
    expect([code, stderr]).toEqual([1, expect.stringContaining('sallyport idp apply')]);
    expect(await realm.snapshot()).toBe(before);
  });

  it('have a client each, whose token is for the platform, and are revoked singly', async () => {
    expect((await realm.idp('apply', PUBLIC_URL, '--yes')).code).toBe(0);
    const [one, other] = [
      (await create('acme')).stdout.trim(),
      (await create('umbrella')).stdout.trim(),
    ];
    const token = await tokenOf(one);
    expect(token.status).toBe(200);
    expect(JSON.parse(token.claims)).toMatchObject({
      aud: PUBLIC_URL,
      scope: expect.stringContaining('all'),
    });
    const keys = await list();
    expect(keys.map(({ organization }) => organization)).toEqual(['acme', 'umbrella']);
    expect((await apikey('revoke', keys[0]?.clientId ?? '')).code).toBe(0);
    expect((await tokenOf(one)).status).toBe(401);
    expect((await tokenOf(other)).status).toBe(200);
    expect(await list()).toHaveLength(1);
  });

  it('are no client of another kind: the service app stays', async () => {
    expect((await apikey('revoke', 'sallyport-service')).code).toBe(1);
    expect((await realm.idp('check', PUBLIC_URL)).code).toBe(0);
  });

  it('are not in the way of plan, and go with destroy', async () => {
    expect((await realm.idp('plan', PUBLIC_URL)).stdout).toContain('0 to create, 0 to change');
    expect((await realm.idp('destroy', PUBLIC_URL, '--yes')).code).toBe(0);
    expect(await realm.snapshot()).toBe(before);
  });
});

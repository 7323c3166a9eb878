import { readFile } from 'node:fs/promises';
import { createBrowser } from '@sallyport/testing/idp/browser';
import {
  authorizeUrl,
  CLIENT_IDS,
  CODE_CHALLENGE,
  exchangeOf,
  NATIVE_REQUEST,
  PUBLIC_URL,
  post,
  type RunningIdp,
  requestToken,
  signIn,
  startIdp,
} from '@sallyport/testing/idp/running-idp';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let running: RunningIdp;
let web: string;

beforeAll(async () => {
  running = await startIdp();
  web = `${CLIENT_IDS.web}:${await readFile(running.idp.webClientSecretFile, 'utf8')}`;
});

afterAll(() => running.close());

/** Signs in with the web application and returns its token response. */
async function tokensFor(
  parameters: Record<string, string | undefined> = {},
): Promise<Record<string, unknown>> {
  const { callback } = await signIn(running, authorizeUrl(running, parameters));
  return (await requestToken(running, exchangeOf(callback), web)).body;
}

const refresh = (token: unknown, basic = web) =>
  requestToken(running, { grant_type: 'refresh_token', refresh_token: String(token) }, basic);

const userinfo = (token: unknown) =>
  fetch(`${running.issuer}/idp/userinfo`, {
    headers: { authorization: `Bearer ${String(token)}` },
  });

const introspect = (token: unknown) =>
  post(running, '/idp/introspect', { token: String(token) }, web);

describe('offline_access', () => {
  it('gives the web application a refresh token without prompt=consent and without a page', async () => {
    const browser = createBrowser();
    await signIn(running, authorizeUrl(running), { browser });
    const answer = await browser.get(authorizeUrl(running));
    const callback = new URL(answer.location ?? '');
    const { body } = await requestToken(running, exchangeOf(callback), web);
    expect(body).toMatchObject({ refresh_token: expect.any(String) });
    expect(body['scope']).toBe('openid profile offline_access');
  });

  it('gives no refresh token to a sign-in that does not ask for it', async () => {
    expect(await tokensFor({ scope: 'openid profile' })).not.toHaveProperty('refresh_token');
  });

  it('survives a pushed authorization request (RFC 9126)', async () => {
    const request = Object.fromEntries(new URL(authorizeUrl(running)).searchParams);
    const pushed = await post(running, '/idp/par', request, web);
    expect(pushed.status).toBe(201);
    const url = `${running.issuer}/idp/authorize?client_id=${CLIENT_IDS.web}&request_uri=${encodeURIComponent(String(pushed.body['request_uri']))}`;
    const { callback } = await signIn(running, url);
    const { body } = await requestToken(running, exchangeOf(callback), web);
    expect(body).toHaveProperty('refresh_token');
  });

  it('RFC 9126 section 4: a scope beside a pushed request does not count', async () => {
    const url = new URL(authorizeUrl(running, { scope: 'openid' }));
    const pushed = await post(running, '/idp/par', Object.fromEntries(url.searchParams), web);
    const request = `${running.issuer}/idp/authorize?client_id=${CLIENT_IDS.web}&scope=openid+offline_access&request_uri=${encodeURIComponent(String(pushed.body['request_uri']))}`;
    const { callback } = await signIn(running, request);
    const { body } = await requestToken(running, exchangeOf(callback), web);
    expect(body).not.toHaveProperty('refresh_token');
  });
});

describe('refresh tokens', () => {
  it('rotate with every use, and every answer carries expires_in and an ID token of the same person', async () => {
    const first = await tokensFor();
    const second = await refresh(first['refresh_token']);
    const third = await refresh(second.body['refresh_token']);
    const all = [first, second.body, third.body].map((body) => body['refresh_token']);
    expect(new Set(all).size).toBe(3);
    expect(third.body).toMatchObject({ expires_in: 3_600, id_token: expect.any(String) });
    expect((await userinfo(third.body['access_token'])).status).toBe(200);
  });

  it('used a second time revoke the whole grant', async () => {
    const first = await tokensFor();
    const second = await refresh(first['refresh_token']);
    expect((await refresh(first['refresh_token'])).body).toMatchObject({ error: 'invalid_grant' });
    expect((await refresh(second.body['refresh_token'])).body).toMatchObject({
      error: 'invalid_grant',
    });
    expect((await userinfo(second.body['access_token'])).status).toBe(401);
  });

  it('of one application are refused from another, and stay good', async () => {
    const { refresh_token } = await tokensFor();
    const service = await readFile(running.idp.serviceClientSecretFile, 'utf8');
    expect((await refresh(refresh_token, `service%2Bapp:${service}`)).status).toBe(400);
    expect((await refresh(refresh_token)).status).toBe(200);
  });
});

describe('authorization codes', () => {
  it('used a second time revoke what the first use gave', async () => {
    const { callback } = await signIn(running, authorizeUrl(running));
    const first = await requestToken(running, exchangeOf(callback), web);
    const second = await requestToken(running, exchangeOf(callback), web);
    expect(second.body).toMatchObject({ error: 'invalid_grant' });
    expect((await refresh(first.body['refresh_token'])).status).toBe(400);
  });
});

describe('access tokens', () => {
  it('of a normal sign-in open userinfo, which names the person', async () => {
    const { access_token } = await tokensFor();
    const response = await userinfo(access_token);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      sub: 'ada',
      name: 'Ada Lovelace',
      preferred_username: 'ada',
      given_name: 'Ada',
      family_name: 'Lovelace',
      email: 'ada@example.test',
      email_verified: true,
    });
  });

  it('that were never issued do not open userinfo; the answer is JSON whatever Accept says', async () => {
    const response = await fetch(`${running.issuer}/idp/userinfo`, {
      headers: { authorization: 'Bearer made-up', accept: 'text/html' },
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: 'invalid_token' });
  });

  it('with scope all verify against the published keys, for the deployment only', async () => {
    const { access_token } = await tokensFor({ scope: 'openid profile offline_access all' });
    const keys = createRemoteJWKSet(new URL(`${running.issuer}/idp/jwks`));
    const expected = { issuer: running.issuer, audience: PUBLIC_URL, typ: 'at+jwt' };
    await expect(jwtVerify(String(access_token), keys, expected)).resolves.toMatchObject({
      payload: { scope: 'all' },
    });
    const other = { ...expected, audience: 'http://other.test' };
    await expect(jwtVerify(String(access_token), keys, other)).rejects.toThrow('aud');
  });

  it('the published keys hold no private part', async () => {
    const response = await fetch(`${running.issuer}/idp/jwks`);
    const { keys } = (await response.json()) as { keys: Record<string, unknown>[] };
    expect(keys).toHaveLength(1);
    expect(Object.keys(keys[0] ?? {}).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });
});

describe('introspection and revocation', () => {
  it('RFC 7662: distinguishes an active token from one that was never issued', async () => {
    const { access_token } = await tokensFor();
    expect((await introspect(access_token)).body).toMatchObject({
      active: true,
      sub: 'ada',
      client_id: CLIENT_IDS.web,
      scope: 'openid profile offline_access',
    });
    expect((await introspect('made-up')).body).toEqual({ active: false });
  });

  it('RFC 7662 section 4: says nothing to a public client about a token of another', async () => {
    const { access_token } = await tokensFor();
    const fields = { token: String(access_token), client_id: CLIENT_IDS.native };
    expect((await post(running, '/idp/introspect', fields)).body).toEqual({ active: false });
    expect((await post(running, '/idp/introspect', { token: 'x' })).status).toBe(400);
  });

  it('RFC 7009: a revoked refresh token ends its access token too', async () => {
    const { access_token, refresh_token } = await tokensFor();
    const revoked = await post(running, '/idp/revoke', { token: String(refresh_token) }, web);
    expect(revoked.status).toBe(200);
    expect((await refresh(refresh_token)).status).toBe(400);
    expect((await introspect(access_token)).body).toEqual({ active: false });
  });

  it('RFC 7009 section 2.1: a token of another application is not revoked', async () => {
    const { refresh_token } = await tokensFor();
    const fields = { token: String(refresh_token), client_id: CLIENT_IDS.native };
    expect((await post(running, '/idp/revoke', fields)).status).toBe(400);
    expect((await refresh(refresh_token)).status).toBe(200);
  });
});

describe('authorization responses', () => {
  it('RFC 9207: carry iss, on success and on refusal', async () => {
    const { callback } = await signIn(running, authorizeUrl(running));
    expect(callback.searchParams.get('iss')).toBe(running.issuer);
    expect(callback.searchParams.get('state')).toBe('state-1');
    const none = await createBrowser().get(authorizeUrl(running, { prompt: 'none' }));
    const refused = new URL(none.location ?? '').searchParams;
    expect(refused.get('error')).toBe('login_required');
    expect(refused.get('iss')).toBe(running.issuer);
  });

  it('prompt=none succeeds in a session, and keeps offline_access', async () => {
    const browser = createBrowser();
    await signIn(running, authorizeUrl(running), { browser });
    const answer = await browser.get(authorizeUrl(running, { prompt: 'none' }));
    const { body } = await requestToken(running, exchangeOf(new URL(answer.location ?? '')), web);
    expect(body).toHaveProperty('refresh_token');
  });

  it('prompt=login and prompt=select_account ask again in a session', async () => {
    const browser = createBrowser();
    await signIn(running, authorizeUrl(running), { browser });
    for (const prompt of ['login', 'select_account']) {
      const request = authorizeUrl(running, { prompt });
      const { page, callback } = await signIn(running, request, { browser });
      expect(page.text).toContain('name="password"');
      expect(callback.searchParams.has('code')).toBe(true);
    }
  });
});

describe('discovery', () => {
  it.each(['openid-configuration', 'oauth-authorization-server'])(
    'names every endpoint, grant type and scope of the requirement at /.well-known/%s',
    async (document) => {
      const response = await fetch(`${running.issuer}/.well-known/${document}`);
      const metadata = (await response.json()) as Record<string, unknown>;
      expect(metadata).toMatchObject({
        issuer: running.issuer,
        authorization_endpoint: `${running.issuer}/idp/authorize`,
        token_endpoint: `${running.issuer}/idp/token`,
        device_authorization_endpoint: `${running.issuer}/idp/device/code`,
        end_session_endpoint: `${running.issuer}/idp/logout`,
        pushed_authorization_request_endpoint: `${running.issuer}/idp/par`,
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        scopes_supported: ['openid', 'profile', 'email', 'offline_access', 'all'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
      });
      expect(metadata['grant_types_supported']).toEqual(
        expect.arrayContaining([
          'authorization_code',
          'client_credentials',
          'refresh_token',
          'urn:ietf:params:oauth:grant-type:device_code',
        ]),
      );
    },
  );
});

describe('request objects of the native application', () => {
  it('a challenge that was pushed binds the code as well', async () => {
    const request = {
      ...NATIVE_REQUEST,
      response_type: 'code',
      code_challenge: CODE_CHALLENGE,
      code_challenge_method: 'S256',
    };
    expect((await post(running, '/idp/par', request)).status).toBe(201);
    const { code_challenge: _, code_challenge_method: __, ...without } = request;
    expect((await post(running, '/idp/par', without)).status).toBe(400);
  });
});

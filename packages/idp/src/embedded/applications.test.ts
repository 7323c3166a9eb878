import { readFile } from 'node:fs/promises';
import { createBrowser } from '@sallyport/testing/idp/browser';
import {
  authorizeUrl,
  CLIENT_IDS,
  exchangeOf,
  NATIVE_REQUEST,
  PUBLIC_URL,
  post,
  type RunningIdp,
  requestToken,
  signIn,
  startIdp,
} from '@sallyport/testing/idp/running-idp';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

let running: RunningIdp;
let web: string;
let service: string;

beforeAll(async () => {
  running = await startIdp();
  web = `${CLIENT_IDS.web}:${await readFile(running.idp.webClientSecretFile, 'utf8')}`;
  service = `${encodeURIComponent(CLIENT_IDS.service)}:${await readFile(running.idp.serviceClientSecretFile, 'utf8')}`;
});

afterAll(() => running.close());

/** The answer to an application that is known, but whose row does not name the grant type. */
const NOT_ITS_GRANT = {
  status: 400,
  body: { error_description: 'requested grant type is not allowed for this client' },
};

/** The native application's access token for the answer of an authorization request. */
async function accessTokenOf(location: string | undefined): Promise<string> {
  const callback = new URL(location ?? '');
  const { body } = await requestToken(running, {
    ...exchangeOf(callback, NATIVE_REQUEST.redirect_uri),
    client_id: CLIENT_IDS.native,
  });
  return String(body['access_token']);
}

/** The refusal of an authorization request, read from the redirect or from the page. */
async function refusalOf(parameters: Record<string, string | undefined>): Promise<string> {
  const answer = await createBrowser().get(authorizeUrl(running, parameters));
  const { location } = answer;
  if (location === undefined) return `page ${answer.status}`;
  const { hash, searchParams } = new URL(location);
  const answered = hash === '' ? searchParams : new URLSearchParams(hash.slice(1));
  return answered.get('error') ?? 'none';
}

describe('web application', () => {
  it('authorization_code: exchanges a code for tokens with HTTP Basic', async () => {
    const { callback } = await signIn(running, authorizeUrl(running));
    expect(`${callback.origin}${callback.pathname}`).toBe(`${PUBLIC_URL}/callback`);
    expect(callback.searchParams.get('code')).toMatch(/^[A-Za-z0-9._~-]+$/);
    const { status, body } = await requestToken(running, exchangeOf(callback), web);
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3_600 });
    expect(decodeJwt(String(body['id_token']))).toMatchObject({
      iss: running.issuer,
      sub: 'ada',
      aud: CLIENT_IDS.web,
      sid: expect.any(String),
      auth_time: expect.any(Number),
      amr: ['pwd'],
    });
  });

  it('leads back with a 302 that carries code, state and issuer; without a sign-in the 303 leads to a page here', async () => {
    const browser = createBrowser();
    const fresh = await browser.get(authorizeUrl(running));
    expect(fresh.status).toBe(303);
    expect(new URL(fresh.location ?? '', running.issuer).origin).toBe(running.issuer);
    await signIn(running, authorizeUrl(running), { browser });
    const back = await browser.get(authorizeUrl(running));
    expect(back.status).toBe(302);
    const { origin, pathname, searchParams } = new URL(back.location ?? '');
    expect(origin + pathname).toBe(`${PUBLIC_URL}/callback`);
    expect([...searchParams.keys()].toSorted()).toEqual(['code', 'iss', 'state']);
  });

  it('answers a wrong secret with 401, and the code is still good for the right one', async () => {
    const { callback } = await signIn(running, authorizeUrl(running));
    const wrong = await requestToken(running, exchangeOf(callback), `${CLIENT_IDS.web}:wrong`);
    expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    const none = await requestToken(running, {
      ...exchangeOf(callback),
      client_id: CLIENT_IDS.web,
    });
    expect(none.status).toBe(401);
    expect((await requestToken(running, exchangeOf(callback), web)).status).toBe(200);
  });

  it.each([
    `${PUBLIC_URL}/callback/`,
    `${PUBLIC_URL}/callback?x=1`,
    `${PUBLIC_URL}/other`,
    'http://127.0.0.1:8081/callback',
    'http://127.0.0.1:8080.evil.test/callback',
    'https://evil.test/callback',
  ])(
    'shows an error page for the unregistered redirect URI %s and redirects nowhere',
    async (uri) => {
      expect(await refusalOf({ redirect_uri: uri })).toBe('page 400');
    },
  );

  it.each(['client_credentials', DEVICE_GRANT])('refuses the grant %s', async (grant) => {
    const fields = { grant_type: grant, scope: 'all', device_code: 'x' };
    expect(await requestToken(running, fields, web)).toMatchObject(NOT_ITS_GRANT);
  });

  it.each(['password', 'implicit', ''])('knows no grant %j', async (grant) => {
    const fields = { grant_type: grant, username: 'ada', password: 'x' };
    const { status, body } = await requestToken(running, fields, web);
    expect(status).toBe(400);
    expect(body['error']).toBe(grant === '' ? 'invalid_request' : 'unsupported_grant_type');
  });

  it('is registered for the one grant of its row, and refreshes by the scope offline_access alone', async () => {
    expect(running.idp.spec.web.grantTypes).toEqual(['authorization_code']);
    const tokensFor = async (scope: string) => {
      const { callback } = await signIn(running, authorizeUrl(running, { scope }));
      return (await requestToken(running, exchangeOf(callback), web)).body;
    };
    const refresh = (token: unknown) =>
      requestToken(running, { grant_type: 'refresh_token', refresh_token: String(token) }, web);
    const { refresh_token: token } = await tokensFor('openid profile offline_access');
    expect((await refresh(token)).status).toBe(200);
    const without = await tokensFor('openid profile');
    expect(without).not.toHaveProperty('refresh_token');
    for (const other of [without['access_token'], without['id_token'], 'made-up'])
      expect(await refresh(other)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('refuses to start the device flow', async () => {
    const { status, body } = await post(running, '/idp/device/code', { scope: 'all' }, web);
    expect(status).toBe(400);
    expect(body['error_description']).toContain('not allowed for this client');
  });

  it.each(['token', 'id_token', 'code id_token'])('refuses the response type %s', async (type) => {
    expect(await refusalOf({ response_type: type, nonce: 'n' })).toBe('unsupported_response_type');
  });
});

describe('native application', () => {
  it('authorization_code with PKCE and no secret: gives an access token for the deployment', async () => {
    const { callback } = await signIn(running, authorizeUrl(running, NATIVE_REQUEST));
    expect(callback.origin).toBe('http://localhost:53593');
    const fields = {
      ...exchangeOf(callback, NATIVE_REQUEST.redirect_uri),
      client_id: 'native-app',
    };
    const { status, body } = await requestToken(running, fields);
    expect(status).toBe(200);
    expect(body).toMatchObject({ scope: 'all', expires_in: 3_600 });
    const token = String(body['access_token']);
    expect(decodeProtectedHeader(token)).toMatchObject({ typ: 'at+jwt', alg: 'RS256' });
    expect(decodeJwt(token)).toMatchObject({
      iss: running.issuer,
      aud: PUBLIC_URL,
      sub: 'ada',
      client_id: CLIENT_IDS.native,
      scope: 'all',
      email: 'ada@example.test',
    });
  });

  it('accepts Basic with an empty password as a public client, and does not burn the code', async () => {
    const { callback } = await signIn(running, authorizeUrl(running, NATIVE_REQUEST));
    const exchange = exchangeOf(callback, NATIVE_REQUEST.redirect_uri);
    const withPassword = await requestToken(running, exchange, `${CLIENT_IDS.native}:guess`);
    expect(withPassword.status).toBe(401);
    const { status } = await requestToken(running, exchange, `${CLIENT_IDS.native}:`);
    expect(status).toBe(200);
  });

  it('accepts Basic with an empty password beside client_id, empty and unknown parameters', async () => {
    const { callback } = await signIn(running, authorizeUrl(running, NATIVE_REQUEST));
    const exchange = {
      ...exchangeOf(callback, NATIVE_REQUEST.redirect_uri),
      client_id: CLIENT_IDS.native,
      audience: '',
      code_challenge_method: 'S256',
    };
    expect((await requestToken(running, exchange, `${CLIENT_IDS.native}:`)).status).toBe(200);
  });

  it('does not accept an empty password from a confidential client', async () => {
    const fields = { grant_type: 'client_credentials', scope: 'all' };
    expect((await requestToken(running, fields, 'service%2Bapp:')).status).toBe(400);
    expect((await requestToken(running, { ...fields, client_id: 'service+app' })).status).toBe(401);
  });

  it('refuses an authorization request without PKCE', async () => {
    const request = {
      ...NATIVE_REQUEST,
      code_challenge: undefined,
      code_challenge_method: undefined,
    };
    expect(await refusalOf(request)).toBe('invalid_request');
  });

  it.each(['plain', undefined])('refuses the code challenge method %s', async (method) => {
    const request = { ...NATIVE_REQUEST, code_challenge_method: method };
    expect(await refusalOf(request)).toBe('invalid_request');
  });

  it('refuses a code with another verifier', async () => {
    const { callback } = await signIn(running, authorizeUrl(running, NATIVE_REQUEST));
    const fields = {
      ...exchangeOf(callback, NATIVE_REQUEST.redirect_uri),
      client_id: CLIENT_IDS.native,
      code_verifier: 'w'.repeat(43),
    };
    const { body } = await requestToken(running, fields);
    expect(body).toMatchObject({ error: 'invalid_grant' });
  });

  it.each([
    'http://localhost:53594/callback',
    'http://127.0.0.1:53593/callback',
    'http://localhost:53593/other',
  ])('refuses the redirect URI %s', async (uri) => {
    expect(await refusalOf({ ...NATIVE_REQUEST, redirect_uri: uri })).toBe('page 400');
  });

  it.each(['', 'consent'])('shows no consent page, not even for prompt=%s', async (prompt) => {
    const browser = createBrowser();
    await signIn(running, authorizeUrl(running), { browser });
    const request = { ...NATIVE_REQUEST, ...(prompt === '' ? {} : { prompt }) };
    const answer = await browser.get(authorizeUrl(running, request));
    expect(answer.location).toMatch(/^http:\/\/localhost:53593\/callback\?code=/);
  });

  it('is trusted with the scopes of its row alone, and by no sign-in that did not happen', async () => {
    const request = { ...NATIVE_REQUEST, scope: 'all openid' };
    const stranger = createBrowser();
    const page = await stranger.get(authorizeUrl(running, request));
    expect(page.location).toContain('/idp/interaction/');
    expect(await refusalOf({ ...request, prompt: 'none' })).toBe('login_required');
    const browser = createBrowser();
    const { callback } = await signIn(running, authorizeUrl(running, request), { browser });
    const { body } = await requestToken(running, {
      ...exchangeOf(callback, NATIVE_REQUEST.redirect_uri),
      client_id: CLIENT_IDS.native,
    });
    expect(body).toMatchObject({ scope: 'all', id_token: expect.any(String) });
    const wider = await browser.get(authorizeUrl(running, { ...request, scope: 'all admin' }));
    expect(decodeJwt(await accessTokenOf(wider.location))).toMatchObject({ scope: 'all' });
    expect(await refusalOf({ ...request, client_id: 'unknown' })).toBe('page 400');
  });

  it.each(['openid profile', 'openid'])(
    'gets an access token without the scope all for the scope %j',
    async (scope) => {
      const request = { ...NATIVE_REQUEST, scope };
      const { callback } = await signIn(running, authorizeUrl(running, request));
      const { status, body } = await requestToken(running, {
        ...exchangeOf(callback, NATIVE_REQUEST.redirect_uri),
        client_id: CLIENT_IDS.native,
      });
      expect(status).toBe(200);
      expect(JSON.stringify(body['scope'] ?? '')).not.toMatch(/\ball\b/);
      expect(String(body['access_token'])).not.toContain('.');
    },
  );

  it('refuses the grants refresh_token and client_credentials', async () => {
    const client = { client_id: CLIENT_IDS.native };
    const refresh = { ...client, grant_type: 'refresh_token', refresh_token: 'x' };
    expect(await requestToken(running, refresh)).toMatchObject(NOT_ITS_GRANT);
    const own = { ...client, grant_type: 'client_credentials', scope: 'all' };
    expect(await requestToken(running, own)).toMatchObject(NOT_ITS_GRANT);
  });

  it('gives no refresh token for offline_access, which is not in its row', async () => {
    const request = { ...NATIVE_REQUEST, scope: 'openid offline_access all' };
    const { callback } = await signIn(running, authorizeUrl(running, request));
    const fields = {
      ...exchangeOf(callback, NATIVE_REQUEST.redirect_uri),
      client_id: 'native-app',
    };
    const { status, body } = await requestToken(running, fields);
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('refresh_token');
  });
});

describe('service application', () => {
  it.each(['all', ''])(
    'client_credentials with scope %j: an access token with scope all',
    async (scope) => {
      const fields = { grant_type: 'client_credentials', scope, audience: '' };
      const { status, body } = await requestToken(running, fields, service);
      expect(status).toBe(200);
      expect(body).toMatchObject({ token_type: 'Bearer', scope: 'all', expires_in: 3_600 });
      const token = String(body['access_token']);
      expect(decodeProtectedHeader(token)).toMatchObject({ typ: 'at+jwt', alg: 'RS256' });
      expect(decodeJwt(token)).toMatchObject({
        iss: running.issuer,
        aud: PUBLIC_URL,
        sub: CLIENT_IDS.service,
        client_id: CLIENT_IDS.service,
        scope: 'all',
      });
    },
  );

  it('RFC 6749 2.3.1: knows its identifier percent-encoded and raw', async () => {
    const fields = { grant_type: 'client_credentials', scope: 'all' };
    const raw = service.replace('%2B', '+');
    expect((await requestToken(running, fields, raw)).status).toBe(200);
    expect((await requestToken(running, fields, `${raw}x`)).status).toBe(401);
  });

  it('refuses a scope that is not in its row', async () => {
    const fields = { grant_type: 'client_credentials', scope: 'openid' };
    expect((await requestToken(running, fields, service)).body).toMatchObject({
      error: 'invalid_scope',
    });
  });

  it('refuses authorization_code: at the authorization endpoint and at the token endpoint', async () => {
    expect(await refusalOf({ client_id: CLIENT_IDS.service })).toBe('page 400');
    const { callback } = await signIn(running, authorizeUrl(running));
    expect(await requestToken(running, exchangeOf(callback), service)).toMatchObject(NOT_ITS_GRANT);
    expect((await requestToken(running, exchangeOf(callback), web)).status).toBe(200);
  });

  it.each(['refresh_token', DEVICE_GRANT])('refuses the grant %s', async (grant) => {
    const fields = { grant_type: grant, refresh_token: 'x', device_code: 'x' };
    expect(await requestToken(running, fields, service)).toMatchObject(NOT_ITS_GRANT);
  });

  it('refuses a resource that is not the deployment', async () => {
    const fields = {
      grant_type: 'client_credentials',
      scope: 'all',
      resource: 'http://other.test',
    };
    const { body } = await requestToken(running, fields, service);
    expect(body).toMatchObject({ error: 'invalid_target' });
  });
});

describe('unknown clients', () => {
  it('are refused at every endpoint', async () => {
    expect(await refusalOf({ client_id: 'unknown' })).toBe('page 400');
    const fields = { grant_type: 'client_credentials', scope: 'all' };
    expect((await requestToken(running, fields, 'unknown:x')).status).toBe(401);
    expect((await requestToken(running, fields, 'unknown:')).status).toBe(400);
  });

  it('cannot register themselves: the three applications are all there are', async () => {
    const discovery = `${running.issuer}/.well-known/openid-configuration`;
    const metadata = (await (await fetch(discovery)).json()) as object;
    expect(metadata).not.toHaveProperty('registration_endpoint');
    for (const path of ['/idp/register', '/idp/reg', '/reg', '/register', '/clients']) {
      const answer = await fetch(running.issuer + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: ['https://evil.test/callback'] }),
      });
      expect([path, answer.status]).toEqual([path, 404]);
    }
    const { web: one, native: two, service: three } = running.idp.spec;
    const known = [one, two, three].map(({ clientId }) => clientId);
    expect(known.toSorted()).toEqual(Object.values(CLIENT_IDS).toSorted());
  });
});

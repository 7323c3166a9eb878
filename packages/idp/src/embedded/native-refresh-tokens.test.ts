import { createBrowser, hiddenField } from '@sallyport/testing/idp/browser';
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
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CLIENT = { client_id: CLIENT_IDS.native };
const SCOPE = 'all offline_access';

/** Signs the native application in and gives its token response. */
async function tokensOf(running: RunningIdp, scope = SCOPE): Promise<Record<string, unknown>> {
  const request = authorizeUrl(running, { ...NATIVE_REQUEST, scope });
  const { callback } = await signIn(running, request);
  const fields = { ...exchangeOf(callback, NATIVE_REQUEST.redirect_uri), ...CLIENT };
  return (await requestToken(running, fields)).body;
}

/** As the Python clients send it; the device flow adds scope and audience. */
const refresh = (running: RunningIdp, token: unknown, extra: Record<string, string> = {}) =>
  requestToken(running, {
    ...CLIENT,
    grant_type: 'refresh_token',
    refresh_token: String(token),
    ...extra,
  });

describe('nativeRefreshTokens', () => {
  let running: RunningIdp;

  beforeAll(async () => {
    running = await startIdp({ nativeRefreshTokens: true, accessTokenTtlSeconds: 90 });
  });

  afterAll(() => running.close());

  it('gives the native application a refresh token with offline_access, and not without', async () => {
    expect(await tokensOf(running)).toHaveProperty('refresh_token', expect.any(String));
    expect(await tokensOf(running, 'all')).not.toHaveProperty('refresh_token');
  });

  it('a refresh gives an access token for the deployment, expires_in and another refresh token', async () => {
    const first = await tokensOf(running);
    const { status, body } = await refresh(running, first['refresh_token']);
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 90 });
    expect(body['refresh_token']).not.toBe(first['refresh_token']);
    expect(body['refresh_token']).toMatch(/^[A-Za-z0-9._~-]+$/);
    const claims = decodeJwt(String(body['access_token']));
    expect(claims).toMatchObject({ aud: PUBLIC_URL, sub: 'ada', scope: 'all' });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(90);
  });

  it('accepts Basic with an empty secret, scope and an empty audience at a refresh', async () => {
    const { refresh_token } = await tokensOf(running);
    const fields = {
      grant_type: 'refresh_token',
      refresh_token: String(refresh_token),
      scope: 'all',
      audience: '',
    };
    expect((await requestToken(running, fields, `${CLIENT_IDS.native}:`)).status).toBe(200);
  });

  it('a refresh token used again revokes its whole family', async () => {
    const first = await tokensOf(running);
    const second = await refresh(running, first['refresh_token']);
    const again = await refresh(running, first['refresh_token']);
    expect(again).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const rest = await refresh(running, second.body['refresh_token']);
    expect(rest).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('a scope that was not granted is refused at a refresh, and the token stays good', async () => {
    const { refresh_token } = await tokensOf(running);
    const wider = await refresh(running, refresh_token, { scope: 'all openid' });
    expect(wider).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
    expect((await refresh(running, refresh_token)).status).toBe(200);
  });

  it('the device flow gives one too', async () => {
    const start = await post(running, '/idp/device/code', { ...CLIENT, scope: SCOPE });
    const browser = createBrowser();
    await signIn(running, authorizeUrl(running), { browser });
    const page = await browser.get(`${running.issuer}/idp/device`);
    const xsrf = hiddenField(page.text, 'xsrf');
    const user_code = String(start.body['user_code']);
    await browser.submit(page.url, { xsrf, user_code, confirm: 'yes' });
    const { body } = await requestToken(running, {
      ...CLIENT,
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: String(start.body['device_code']),
    });
    expect(body).toHaveProperty('refresh_token', expect.any(String));
    const extra = { scope: 'all', audience: '' };
    expect((await refresh(running, body['refresh_token'], extra)).status).toBe(200);
  });

  it('says so in its specification, and the other rows stay as they are', async () => {
    const plain = await startIdp();
    try {
      const { spec } = running.idp;
      expect(spec.native.grantTypes).toEqual(plain.idp.spec.native.grantTypes);
      expect(spec.native.scopes).toContain('offline_access');
      expect(plain.idp.spec.native.scopes).not.toContain('offline_access');
      expect([spec.web, spec.service]).toEqual([plain.idp.spec.web, plain.idp.spec.service]);
    } finally {
      await plain.close();
    }
  });
});

describe('refreshTokenLeewaySeconds', () => {
  it('a lost answer can be asked for again within it; after it the family is revoked', async () => {
    const clock = { now: Date.UTC(2026, 0, 1) };
    const running = await startIdp({
      nativeRefreshTokens: true,
      refreshTokenLeewaySeconds: 30,
      now: () => clock.now,
    });
    try {
      const first = await tokensOf(running);
      const lost = await refresh(running, first['refresh_token']);
      clock.now += 20_000;
      const second = await refresh(running, first['refresh_token']);
      expect([lost.status, second.status]).toEqual([200, 200]);
      clock.now += 10_000;
      expect((await refresh(running, first['refresh_token'])).status).toBe(400);
      expect((await refresh(running, second.body['refresh_token'])).status).toBe(400);
    } finally {
      await running.close();
    }
  });

  it.each([
    { refreshTokenLeewaySeconds: -1 },
    { refreshTokenLeewaySeconds: 0.5 },
    { accessTokenTtlSeconds: 0 },
    { accessTokenTtlSeconds: Number.NaN },
  ])('refuses to start with %j', async (options) => {
    await expect(startIdp(options)).rejects.toThrow('SP_CONFIG_INVALID');
  });
});

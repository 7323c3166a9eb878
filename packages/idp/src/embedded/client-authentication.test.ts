import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBrowser } from '@sallyport/testing/idp/browser';
import {
  authorizeUrl,
  CLIENT_IDS,
  exchangeOf,
  post,
  type RunningIdp,
  requestToken,
  signIn,
  startIdp,
} from '@sallyport/testing/idp/running-idp';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

async function discover({ issuer }: RunningIdp): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`);
  return (await response.json()) as Record<string, unknown>;
}

describe('webJwksUri', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const { privateKey: otherKey } = await generateKeyPair('ES256');
  const asked: string[] = [];
  const keys = createServer((req, res) => {
    asked.push(req.url ?? '');
    void exportJWK(publicKey).then((jwk) =>
      res.end(JSON.stringify({ keys: [{ ...jwk, kid: 'k1', use: 'sig', alg: 'ES256' }] })),
    );
  });
  let running: RunningIdp;

  beforeAll(async () => {
    await new Promise<void>((resolve) => {
      keys.listen(0, '127.0.0.1', resolve);
    });
    const { port } = keys.address() as AddressInfo;
    running = await startIdp({ webJwksUri: `http://127.0.0.1:${port}/auth/jwks` });
  });
  afterAll(async () => {
    await running.close();
    keys.closeAllConnections();
    keys.close();
  });

  async function assertion(claims: object = {}, key = privateKey) {
    const now = Math.floor(Date.now() / 1_000);
    const jwt = await new SignJWT({
      iss: CLIENT_IDS.web,
      sub: CLIENT_IDS.web,
      aud: running.issuer,
      jti: randomUUID(),
      iat: now,
      exp: now + 60,
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .sign(key);
    return { client_assertion_type: ASSERTION_TYPE, client_assertion: jwt };
  }

  it('RFC 7523: a code is exchanged with an assertion of the published key', async () => {
    const { callback } = await signIn(running, authorizeUrl(running));
    const fields = { ...exchangeOf(callback), ...(await assertion()) };
    const { status, body } = await requestToken(running, fields);
    expect([status, typeof body['id_token']]).toEqual([200, 'string']);
    expect(new Set(asked)).toEqual(new Set(['/auth/jwks']));
  });

  it('is in discovery; without it the method is not offered', async () => {
    const methods = 'token_endpoint_auth_methods_supported';
    expect((await discover(running))[methods]).toContain('private_key_jwt');
    const plain = await startIdp();
    try {
      expect((await discover(plain))[methods]).toEqual(['client_secret_basic', 'none']);
    } finally {
      await plain.close();
    }
  });

  it.each<[string, () => Promise<Record<string, string>>]>([
    ['of another key', () => assertion({}, otherKey)],
    ['for another server', () => assertion({ aud: 'https://other.example' })],
    ['of another issuer', () => assertion({ iss: 'somebody' })],
    ['that has ended', () => assertion({ exp: 1 })],
    ['without jti', () => assertion({ jti: undefined })],
    ['that is none', async () => ({ client_id: CLIENT_IDS.web })],
  ])('refuses an assertion %s', async (_, fields) => {
    const { callback } = await signIn(running, authorizeUrl(running));
    const answer = await requestToken(running, { ...exchangeOf(callback), ...(await fields()) });
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });

  it('refuses an assertion that was used', async () => {
    const { callback } = await signIn(running, authorizeUrl(running));
    const used = await assertion();
    const form = { ...exchangeOf(callback), ...used };
    expect((await requestToken(running, form)).status).toBe(200);
    expect((await post(running, '/idp/par', { ...form, ...used })).status).toBe(401);
  });

  it('refuses the secret', async () => {
    const secret = await readFile(running.idp.webClientSecretFile, 'utf8');
    const { callback } = await signIn(running, authorizeUrl(running));
    const answer = await requestToken(running, exchangeOf(callback), `${CLIENT_IDS.web}:${secret}`);
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  });
});

describe('requirePushedAuthorization', () => {
  let running: RunningIdp;
  beforeAll(async () => {
    running = await startIdp({ requirePushedAuthorization: true });
  });
  afterAll(() => running.close());

  it('RFC 9126 section 5: is published by discovery; without it nothing is said', async () => {
    const flag = 'require_pushed_authorization_requests';
    expect((await discover(running))[flag]).toBe(true);
    const plain = await startIdp();
    try {
      expect(await discover(plain)).not.toHaveProperty(flag);
    } finally {
      await plain.close();
    }
  });

  it('admits a request that was pushed', async () => {
    const web = `${CLIENT_IDS.web}:${await readFile(running.idp.webClientSecretFile, 'utf8')}`;
    const form = Object.fromEntries(new URL(authorizeUrl(running)).searchParams);
    const pushed = await post(running, '/idp/par', form, web);
    expect(pushed.status).toBe(201);
    const address = `${running.issuer}/idp/authorize?client_id=${CLIENT_IDS.web}&request_uri=${encodeURIComponent(String(pushed.body['request_uri']))}`;
    const { callback } = await signIn(running, address);
    expect((await requestToken(running, exchangeOf(callback), web)).status).toBe(200);
  });

  it('refuses a request that comes through the browser alone', async () => {
    const { location } = await createBrowser().get(authorizeUrl(running));
    expect(new URL(location ?? 'about:blank').searchParams.get('error')).toBe('invalid_request');
  });
});

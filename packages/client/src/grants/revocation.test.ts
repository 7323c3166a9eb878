import { START } from '@sallyport/testing/client/ports';
import { type ScriptedServer, startScriptedServer } from '@sallyport/testing/idp/scripted-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TokenSet } from '../token-set.ts';
import { publicClient } from './client-authentication.ts';
import { revokeTokens } from './revocation.ts';

const TOKENS: TokenSet = {
  accessToken: 'at',
  expiresAt: START,
  obtainedAt: START,
  refreshToken: 'rt',
  scopes: [],
};

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.close());

const revoke = (revocationEndpoint: string, tokens = TOKENS, options = {}) =>
  revokeTokens(
    {
      revocationEndpoint,
      issuer: server.origin,
      tokenEndpoint: `${server.origin}/token`,
      authentication: publicClient('native'),
    },
    tokens,
    fetch,
    options,
  );

describe('giving tokens back (RFC 7009)', () => {
  it('revokes the refresh token', async () => {
    server.script('/revoke', {});
    expect(await revoke(`${server.origin}/revoke`)).toEqual({ ok: true, value: 'revoked' });
    expect(server.requests[0]?.form).toEqual({
      token: 'rt',
      token_type_hint: 'refresh_token',
      client_id: 'native',
    });
  });

  it('revokes the access token when there is no other', async () => {
    server.script('/revoke', {});
    await revoke(`${server.origin}/revoke`, { ...TOKENS, refreshToken: undefined });
    expect(server.requests[0]?.form).toMatchObject({
      token: 'at',
      token_type_hint: 'access_token',
    });
  });

  it.each(['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'])(
    'finds the endpoint in the issuer’s %s',
    async (path) => {
      server.script(path, {
        body: { issuer: server.origin, revocation_endpoint: `${server.origin}/revoke` },
      });
      server.script('/revoke', {});
      expect(await revoke('')).toEqual({ ok: true, value: 'revoked' });
    },
  );

  it.each([
    [
      'names another issuer',
      (origin: string) => ({ issuer: 'https://x', revocation_endpoint: `${origin}/revoke` }),
    ],
    [
      'names an http endpoint',
      (origin: string) => ({ issuer: origin, revocation_endpoint: 'http://x.example' }),
    ],
    ['names none', (origin: string) => ({ issuer: origin })],
  ])('sends no token anywhere when the document %s', async (_, document) => {
    server.script('/.well-known/openid-configuration', { body: document(server.origin) });
    expect(await revoke('')).toEqual({ ok: true, value: 'not_offered' });
    expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('is not offered for tokens of a type that the server cannot revoke', async () => {
    server.script('/revoke', { status: 400, body: { error: 'unsupported_token_type' } });
    const outcome = await revoke(`${server.origin}/revoke`);
    expect(outcome).toEqual({ ok: true, value: 'not_offered' });
  });

  it('passes on a refusal', async () => {
    server.script('/revoke', { status: 401, body: { error: 'invalid_client' } });
    expect(await revoke(`${server.origin}/revoke`)).toMatchObject({
      error: { error: 'invalid_client' },
    });
  });

  it('without an answer is an outage', async () => {
    server.script('/revoke', { status: 503 });
    await expect(revoke(`${server.origin}/revoke`)).rejects.toMatchObject({
      code: 'SP_IDP_UNREACHABLE',
    });
  });
});

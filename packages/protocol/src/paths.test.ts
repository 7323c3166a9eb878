import { describe, expect, it } from 'vitest';
import { isOwnEndpoint, PATHS } from './paths.ts';

describe('PATHS', () => {
  it('Endpoints: names /me, /login, /callback and /logout', () => {
    expect(PATHS).toMatchObject({
      me: '/me',
      login: '/login',
      callback: '/callback',
      logout: '/logout',
    });
  });

  it('keeps every other path of ours but health below one prefix', () => {
    const { root, me, login, callback, logout, healthz, readyz, ...others } = PATHS;
    const { authorizationServer, openIdConfiguration, clientConfig, ...own } = others;
    for (const path of Object.values(own)) expect(path.startsWith(PATHS.own)).toBe(true);
    expect([root, me, login, callback, logout, healthz, readyz]).toHaveLength(7);
    expect([authorizationServer, openIdConfiguration, clientConfig]).toEqual([
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/config/v1/flyte_client',
    ]);
  });
});

describe('isOwnEndpoint', () => {
  it.each([
    '/me',
    '/me/',
    '/me/x',
    '/login',
    '/login/',
    '/callback',
    '/logout',
    '/auth',
    '/auth/',
    '/auth/session',
    '/auth/account/',
    '/auth/account/x',
    '/auth/signed-in/',
  ])('says so of %s', (path) => {
    expect(isOwnEndpoint(path)).toBe(true);
  });

  it.each([
    '/',
    '',
    '/auth/account',
    '/auth/signed-in',
    '/mexico',
    '/login-help',
    '/callbacks',
    '/authx',
    '/x/me',
    'me',
    '/LOGIN',
    '/healthz',
  ])('does not say so of %s', (path) => {
    expect(isOwnEndpoint(path)).toBe(false);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIdpSpec } from './idp-spec.ts';

const CLIENT_IDS = { web: 'w', native: 'n', service: 's' };

describe('createIdpSpec', () => {
  it('IdP applications: registers the three rows with their grant types, and no others', () => {
    const { web, native, service } = createIdpSpec('https://plane.example', CLIENT_IDS);
    expect(
      [web, native, service].map(({ clientId, grantTypes }) => [clientId, grantTypes]),
    ).toEqual([
      ['w', ['authorization_code']],
      ['n', ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code']],
      ['s', ['client_credentials']],
    ]);
  });

  it('IdP applications: registers one redirect URI for each row that has one', () => {
    const { web, native, service } = createIdpSpec('https://plane.example', CLIENT_IDS);
    expect(web.redirectUris).toEqual(['https://plane.example/callback']);
    expect(web.postLogoutRedirectUris).toEqual(['https://plane.example/logout']);
    expect(native.redirectUris).toEqual(['http://localhost:53593/callback']);
    expect(service.redirectUris).toEqual([]);
  });

  it('registers back-channel logout for the web application alone', () => {
    const { web, native, service } = createIdpSpec('https://plane.example', CLIENT_IDS);
    expect(web.backchannelLogoutUri).toBe('https://plane.example/auth/backchannel-logout');
    expect([native, service].map((each) => each.backchannelLogoutUri)).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('IdP applications: the native application is public, must use PKCE and is trusted', () => {
    const { native } = createIdpSpec('https://plane.example', CLIENT_IDS);
    expect(native).toMatchObject({
      tokenEndpointAuthMethod: 'none',
      pkce: 'required',
      consent: 'trusted',
    });
  });

  it('Authorization server: has a scope named all', () => {
    expect(createIdpSpec('https://plane.example', CLIENT_IDS).scopes).toContain('all');
  });

  it('keeps the public URL byte for byte in redirect URIs and audience', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['http', 'https'] }), (url) => {
        fc.pre(!url.endsWith('/'));
        const spec = createIdpSpec(url, CLIENT_IDS);
        expect(spec.web.redirectUris).toEqual([`${url}/callback`]);
        expect(spec.audience).toBe(url);
      }),
    );
  });

  it.each([
    ['', 'empty'],
    ['plane.example', 'no scheme'],
    ['ftp://plane.example', 'another scheme'],
    ['https://plane.example/', 'trailing slash'],
    ['https://plane.example?x=1', 'query'],
    ['https://plane.example#x', 'fragment'],
  ])('refuses the public URL %j (%s)', (publicUrl) => {
    expect(() => createIdpSpec(publicUrl, CLIENT_IDS)).toThrow('SP_CONFIG_INVALID');
  });

  it.each([
    [{ web: 'same', native: 'same', service: 's' }, 'two equal'],
    [{ web: '', native: 'n', service: 's' }, 'empty'],
    [{ web: 'a:b', native: 'n', service: 's' }, 'a colon'],
    [{ web: 'a b', native: 'n', service: 's' }, 'a space'],
  ])('refuses the client identifiers %j (%s)', (clientIds) => {
    expect(() => createIdpSpec('https://plane.example', clientIds)).toThrow('SP_CONFIG_INVALID');
  });
});

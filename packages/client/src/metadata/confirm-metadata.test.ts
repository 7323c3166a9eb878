import { metadataOf } from '@sallyport/testing/client/ports';
import { describe, expect, it } from 'vitest';
import { confirmMetadata } from './confirm-metadata.ts';

const ISSUER = 'https://idp.example';
const document = (changes: object = {}) => ({
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  device_authorization_endpoint: `${ISSUER}/device`,
  revocation_endpoint: `${ISSUER}/revoke`,
  ...changes,
});

describe('What a platform says of its issuer', () => {
  it('is confirmed when the issuer says the same', () => {
    expect(confirmMetadata(metadataOf(ISSUER), document())).toEqual({ ok: true });
  });

  it('is confirmed when the platform leaves an endpoint out', () => {
    const metadata = metadataOf(ISSUER, {
      deviceAuthorizationEndpoint: '',
      revocationEndpoint: '',
    });
    expect(confirmMetadata(metadata, document())).toEqual({ ok: true });
  });

  it.each([
    ['authorizationEndpoint', 'authorization_endpoint'],
    ['tokenEndpoint', 'token_endpoint'],
    ['deviceAuthorizationEndpoint', 'device_authorization_endpoint'],
    ['revocationEndpoint', 'revocation_endpoint'],
  ])('RFC 9700 section 4.4: is refused when its %s is another', (field, member) => {
    const metadata = metadataOf(ISSUER, { [field]: 'https://evil.example/x' });
    expect(confirmMetadata(metadata, document())).toEqual({
      ok: false,
      error: `has a ${member} that is not the one of its issuer ${ISSUER}`,
    });
  });

  it('is refused when the issuer has no such endpoint', () => {
    const without = document({ device_authorization_endpoint: undefined });
    expect(confirmMetadata(metadataOf(ISSUER), without).ok).toBe(false);
  });

  it('is refused when the issuer serves no document, with the setting that helps', () => {
    const refused = confirmMetadata(metadataOf(ISSUER), undefined);
    expect(refused).toEqual({ ok: false, error: expect.stringContaining('admin.tokenUrl') });
  });

  it("is refused when an issuer borrows another's sign-in page", () => {
    const page = { authorization_endpoint: 'https://known.example/authorize' };
    const metadata = metadataOf(ISSUER, { authorizationEndpoint: page.authorization_endpoint });
    expect(confirmMetadata(metadata, document(page))).toEqual({
      ok: false,
      error: 'has an authorization_endpoint that belongs to another identity provider',
    });
  });

  it.each([
    ['deviceAuthorizationEndpoint', 'device_authorization_endpoint'],
    ['revocationEndpoint', 'revocation_endpoint'],
  ])(
    'is refused when its %s is elsewhere than its token endpoint, though the issuer says so',
    (field, member) => {
      const known = { [member]: 'https://known.example/x' };
      const metadata = metadataOf(ISSUER, { [field]: known[member] ?? '' });
      expect(confirmMetadata(metadata, document(known))).toEqual({
        ok: false,
        error: `has a ${member} that is not where its token_endpoint is`,
      });
    },
  );

  it("is refused when an issuer borrows all of another's endpoints but the one that tokens are given back to", () => {
    const known = {
      authorization_endpoint: 'https://known.example/authorize',
      token_endpoint: 'https://known.example/token',
      device_authorization_endpoint: 'https://known.example/device',
    };
    const metadata = metadataOf(ISSUER, {
      authorizationEndpoint: known.authorization_endpoint,
      tokenEndpoint: known.token_endpoint,
      deviceAuthorizationEndpoint: known.device_authorization_endpoint,
    });
    expect(confirmMetadata(metadata, document(known)).ok).toBe(false);
  });

  it('is confirmed when pages and tokens are on one origin that is not the name of the issuer', () => {
    const elsewhere = 'https://login.example';
    const endpoints = {
      authorization_endpoint: `${elsewhere}/authorize`,
      token_endpoint: `${elsewhere}/token`,
      device_authorization_endpoint: `${elsewhere}/device`,
      revocation_endpoint: `${elsewhere}/revoke`,
    };
    const metadata = metadataOf(ISSUER, {
      authorizationEndpoint: endpoints.authorization_endpoint,
      tokenEndpoint: endpoints.token_endpoint,
      deviceAuthorizationEndpoint: endpoints.device_authorization_endpoint,
      revocationEndpoint: endpoints.revocation_endpoint,
    });
    expect(confirmMetadata(metadata, document(endpoints))).toEqual({ ok: true });
  });
});

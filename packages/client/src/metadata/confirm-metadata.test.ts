import { describe, expect, it } from 'vitest';
import { metadataOf } from '../testing/ports.ts';
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

  it('is confirmed when pages and tokens are on one origin that is not the name of the issuer', () => {
    const elsewhere = 'https://login.example';
    const endpoints = {
      authorization_endpoint: `${elsewhere}/authorize`,
      token_endpoint: `${elsewhere}/token`,
    };
    const metadata = metadataOf(ISSUER, {
      authorizationEndpoint: endpoints.authorization_endpoint,
      tokenEndpoint: endpoints.token_endpoint,
    });
    expect(confirmMetadata(metadata, document(endpoints))).toEqual({ ok: true });
  });
});

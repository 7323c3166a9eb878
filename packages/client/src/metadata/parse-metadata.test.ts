import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSafeUrl, parseMetadata } from './parse-metadata.ts';

const OAUTH2 = {
  issuer: 'https://idp.example.com/oauth2/default',
  authorizationEndpoint: 'https://idp.example.com/authorize',
  tokenEndpoint: 'https://idp.example.com/token',
  deviceAuthorizationEndpoint: 'https://idp.example.com/device',
  codeChallengeMethodsSupported: ['S256'],
};
const PUBLIC_CLIENT = {
  clientId: 'native',
  redirectUri: 'http://localhost:53593/callback',
  scopes: ['all'],
  authorizationMetadataKey: 'Core-Authorization',
};

describe('platform metadata', () => {
  const expected = {
    ok: true,
    value: {
      issuer: 'https://idp.example.com/oauth2/default',
      isIssuerNamed: false,
      authorizationEndpoint: 'https://idp.example.com/authorize',
      tokenEndpoint: 'https://idp.example.com/token',
      deviceAuthorizationEndpoint: 'https://idp.example.com/device',
      revocationEndpoint: '',
      codeChallengeMethods: ['S256'],
      clientId: 'native',
      redirectUri: 'http://localhost:53593/callback',
      scopes: ['all'],
      audience: '',
      authorizationHeader: 'core-authorization',
    },
  };

  it('is read in the spelling of protobuf JSON', () => {
    expect(parseMetadata(OAUTH2, PUBLIC_CLIENT)).toEqual(expected);
  });

  it.each([
    ['authorization_response_iss_parameter_supported', true, true],
    ['authorizationResponseIssParameterSupported', true, true],
    ['authorization_response_iss_parameter_supported', 'true', false],
    ['authorization_response_iss_parameter_supported', 1, false],
  ])('with %s %j: its issuer is named in answers: %s', (name, said, isIssuerNamed) => {
    const parsed = parseMetadata({ ...OAUTH2, [name]: said }, PUBLIC_CLIENT);
    expect(parsed).toMatchObject({ ok: true, value: { isIssuerNamed } });
  });

  it('is read in the spelling of RFC 8414', () => {
    const snake = (members: object): object =>
      Object.fromEntries(
        Object.entries(members).map(([name, value]) => [
          name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
          value,
        ]),
      );
    expect(parseMetadata(snake(OAUTH2), snake(PUBLIC_CLIENT))).toEqual(expected);
  });

  it('may lack everything but issuer and token endpoint; the header is then authorization', () => {
    const { issuer, tokenEndpoint } = OAUTH2;
    expect(parseMetadata({ issuer, tokenEndpoint }, {})).toMatchObject({
      ok: true,
      value: { clientId: '', scopes: [], authorizationHeader: 'authorization' },
    });
  });

  it.each([
    [{ issuer: '' }, {}, 'lacks issuer'],
    [{ tokenEndpoint: undefined }, {}, 'lacks token_endpoint'],
    [{ tokenEndpoint: 'http://idp.example.com/token' }, {}, 'token_endpoint that is neither https'],
    [{ tokenEndpoint: 'javascript:alert(1)' }, {}, 'token_endpoint that is neither https'],
    [{ tokenEndpoint: 7 }, {}, 'token_endpoint that is no plain text'],
    [{ tokenEndpoint: 'https://a@idp.example.com' }, {}, 'token_endpoint that is neither https'],
    [{ authorizationEndpoint: 'file:///etc' }, {}, 'authorization_endpoint that is neither https'],
    [{ revocationEndpoint: 'http://x.example' }, {}, 'revocation_endpoint that is neither https'],
    [{}, { scopes: 'all' }, 'scopes that is no list of words'],
    [{}, { scopes: ['a b'] }, 'scopes that is no list of words'],
    [{}, { clientId: 'a\nb' }, 'client_id that is no plain text'],
    [{}, { authorizationMetadataKey: 'a: b' }, 'authorization_metadata_key that is no'],
    [{}, { authorizationMetadataKey: 'cookie' }, 'authorization_metadata_key that is no'],
    [
      {},
      { authorizationMetadataKey: 'Transfer-Encoding' },
      'authorization_metadata_key that is no',
    ],
  ])('with %j and %j is refused: %s', (oauth2, publicClient, problem) => {
    const parsed = parseMetadata({ ...OAUTH2, ...oauth2 }, { ...PUBLIC_CLIENT, ...publicClient });
    expect(parsed.ok ? '' : parsed.error).toContain(problem);
  });

  it('of any JSON is read or refused, and every endpoint it gives is safe', () => {
    const member = fc.oneof(fc.webUrl(), fc.string(), fc.jsonValue());
    const names = [...Object.keys(OAUTH2), ...Object.keys(PUBLIC_CLIENT), '__proto__'];
    const document = fc.oneof(fc.dictionary(fc.constantFrom(...names), member), fc.jsonValue());
    fc.assert(
      fc.property(document, document, (oauth2, publicClient) => {
        const parsed = parseMetadata(oauth2, publicClient);
        if (!parsed.ok) return;
        expect(isSafeUrl(parsed.value.tokenEndpoint)).toBe(true);
        expect(isSafeUrl(parsed.value.issuer)).toBe(true);
      }),
    );
  });
});

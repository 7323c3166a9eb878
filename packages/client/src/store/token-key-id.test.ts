import { KEY } from '@sallyport/testing/client/tokens';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TokenKey } from '../token-store.ts';
import { tokenKeyId } from './token-key-id.ts';

describe('tokenKeyId', () => {
  it.each<[string, Partial<TokenKey>]>([
    ['issuer', { issuer: 'https://idp.example/' }],
    ['token endpoint', { tokenEndpoint: 'https://idp.example/other' }],
    ['endpoint', { endpoint: 'https://flow.example:8443' }],
    ['client id', { clientId: 'other' }],
    ['scopes', { scopes: ['all'] }],
    ['audience', { audience: '' }],
  ])('another %s is another key', (_part, change) => {
    expect(tokenKeyId({ ...KEY, ...change })).not.toBe(tokenKeyId(KEY));
  });

  it('the order and repetition of scopes make no other key', () => {
    expect(tokenKeyId({ ...KEY, scopes: ['offline_access', 'all', 'all'] })).toBe(tokenKeyId(KEY));
  });

  it('is safe as a file name', () => {
    expect(tokenKeyId({ ...KEY, issuer: '../../etc', clientId: '/' })).toMatch(/^[0-9a-f]{64}$/);
  });

  it('two keys share an id only when they are the same, wherever their parts are cut', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '\0', ' '), maxLength: 3 });
    const key = fc.record({
      issuer: part,
      tokenEndpoint: part,
      endpoint: part,
      clientId: part,
      scopes: fc.array(part, { maxLength: 3 }),
      audience: part,
    });
    const canonical = ({
      issuer,
      tokenEndpoint,
      endpoint,
      clientId,
      scopes,
      audience,
    }: TokenKey): string =>
      JSON.stringify([
        issuer,
        tokenEndpoint,
        endpoint,
        clientId,
        [...new Set(scopes)].sort(),
        audience,
      ]);
    fc.assert(
      fc.property(key, key, (one, other) => {
        expect(tokenKeyId(one) === tokenKeyId(other)).toBe(canonical(one) === canonical(other));
      }),
    );
  });

  it('a lone surrogate is not taken for another one', () => {
    expect(tokenKeyId({ ...KEY, audience: '\ud800' })).not.toBe(
      tokenKeyId({ ...KEY, audience: '\ud801' }),
    );
  });
});

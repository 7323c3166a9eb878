import { createJwt, START } from '@sallyport/testing/client/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readExpiry } from './token-expiry.ts';
import { parseTokenResponse } from './token-response.ts';

const REQUEST = { scopes: ['all'], obtainedAt: START };
const parse = (body: unknown) => parseTokenResponse(JSON.stringify(body), REQUEST);
const GOOD = { access_token: 'at', token_type: 'Bearer' };

describe('the answer of a token endpoint', () => {
  it('gives token, end, refresh token and scopes', () => {
    expect(parse({ ...GOOD, expires_in: 3_600, refresh_token: 'rt', scope: 'all openid' })).toEqual(
      {
        ok: true,
        value: {
          accessToken: 'at',
          expiresAt: START + 3_600_000,
          obtainedAt: START,
          refreshToken: 'rt',
          scopes: ['all', 'openid'],
        },
      },
    );
  });

  it.each([
    ['token_type in lower case', { token_type: 'bearer' }, {}],
    ['expires_in as text', { expires_in: '60' }, { expiresAt: START + 60_000 }],
    ['expires_in with a fraction', { expires_in: 59.5 }, { expiresAt: START + 59_500 }],
    ['expires_in of a century', { expires_in: 1e12 }, { expiresAt: START + 315_360_000_000 }],
    ['no expires_in', {}, { expiresAt: undefined }],
    ['null for what there is not', { refresh_token: null, scope: null }, { scopes: ['all'] }],
    ['an empty refresh_token', { refresh_token: '' }, { refreshToken: undefined }],
    ['an id_token that cannot be verified', { id_token: 'x' }, {}],
  ])('with %s is taken', (_, members, value) => {
    expect(parse({ ...GOOD, ...members })).toMatchObject({ ok: true, value });
  });

  it('without expires_in takes the end from a JWT', () => {
    const access_token = createJwt({ exp: 1_900_000_000 });
    expect(parse({ ...GOOD, access_token })).toMatchObject({
      value: { expiresAt: 1_900_000_000_000 },
    });
  });

  it.each([
    [{ access_token: undefined }, 'access_token'],
    [{ access_token: '' }, 'access_token'],
    [{ access_token: 'a b' }, 'access_token'],
    [{ access_token: 'a\r\nx: y' }, 'access_token'],
    [{ access_token: 7 }, 'access_token'],
    [{ access_token: 'a'.repeat(65_537) }, 'access_token'],
    [{ token_type: undefined }, 'token_type'],
    [{ token_type: 'DPoP' }, 'token_type'],
    [{ refresh_token: 'a b' }, 'refresh_token'],
    [{ refresh_token: 7 }, 'refresh_token'],
    [{ expires_in: -1 }, 'expires_in'],
    [{ expires_in: 'soon' }, 'expires_in'],
    [{ expires_in: {} }, 'expires_in'],
    [{ expires_in: true }, 'expires_in'],
    [{ scope: ['all'] }, 'scope'],
  ])('with %j is refused', (members, name) => {
    const parsed = parse({ ...GOOD, ...members });
    expect(parsed.ok ? '' : parsed.error).toContain(name);
  });

  it('of any text is taken or refused, and a token it gives fits a header', () => {
    const members = fc.record(
      {
        access_token: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
        token_type: fc.constantFrom('Bearer', 'bearer', 'mac'),
        expires_in: fc.oneof(fc.double(), fc.string(), fc.jsonValue()),
        refresh_token: fc.jsonValue(),
        scope: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          members.map((value) => JSON.stringify(value)),
          fc.string(),
        ),
        (text) => {
          const parsed = parseTokenResponse(text, REQUEST);
          if (!parsed.ok) return;
          expect(() => new Headers({ a: `Bearer ${parsed.value.accessToken}` })).not.toThrow();
          expect(parsed.value.expiresAt ?? 0).toBeLessThan(8.64e15);
        },
      ),
    );
  });
});

describe('the end of a token', () => {
  it.each([
    [createJwt({ exp: 1_900_000_000 }), 1_900_000_000_000],
    [createJwt({ exp: 1_900_000_000.5 }), 1_900_000_000_500],
    [createJwt({}), undefined],
    [createJwt({ exp: '1900000000' }), undefined],
    [createJwt({ exp: -1 }), undefined],
    [createJwt({ exp: 1e300 }), undefined],
    ['opaque', undefined],
    ['a.b.c', undefined],
    ['a.b.c.d', undefined],
    ['..', undefined],
  ])('%s is %s', (token, expiresAt) => {
    expect(readExpiry(token)).toBe(expiresAt);
  });
});

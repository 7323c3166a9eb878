import type { JsonValue } from '@sallyport/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateLogoutToken } from './logout-token.ts';

const NOW = 1_767_614_400;
const ISSUER = 'https://idp.example';
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const AUDIENCE = { issuer: ISSUER, clientId: 'web' };
const GOOD = {
  iss: ISSUER,
  sub: 'ada',
  aud: 'web',
  iat: NOW - 10,
  exp: NOW + 110,
  jti: 'j1',
  events: { [EVENT]: {} },
  sid: 's1',
} as const;

type Claims = Readonly<Record<string, JsonValue | undefined>>;

function validate(changes: Claims, type = 'logout+jwt', nowSeconds = NOW) {
  const claims = Object.fromEntries(
    Object.entries({ ...GOOD, ...changes }).filter(([, value]) => value !== undefined),
  ) as Record<string, JsonValue>;
  return validateLogoutToken({ type, claims }, AUDIENCE, nowSeconds);
}

describe('validateLogoutToken', () => {
  it('gives what the token says', () => {
    expect(validate({})).toEqual({
      ok: true,
      value: {
        issuer: ISSUER,
        subject: 'ada',
        sid: 's1',
        jti: 'j1',
        issuedAt: (NOW - 10) * 1_000,
        acceptedUntil: (NOW + 140) * 1_000,
      },
    });
  });

  it.each<[string, Claims]>([
    ['a sub alone', { sid: undefined }],
    ['a sid alone', { sub: undefined }],
    ['an audience list', { aud: ['other', 'web'] }],
    ['our own azp', { azp: 'web' }],
    ['an event with content', { events: { [EVENT]: { revoke_offline_access: true } } }],
    ['further events', { events: { 'urn:other': 1, [EVENT]: {} } }],
    ['claims that are not known', { 'urn:x': [1, { y: null }], toe: 7 }],
    ['the claim typ that Keycloak writes', { typ: 'Logout' }],
    ['an exp within the tolerance', { exp: NOW - 29 }],
    ['a far exp', { exp: NOW + 86_400 }],
    ['an iat within the tolerance', { iat: NOW + 30 }],
    ['an iat of ten minutes ago', { iat: NOW - 600 }],
    ['a float iat', { iat: NOW - 0.25 }],
    ['an nbf in the past', { nbf: NOW }],
    ['a jti of 1,024 characters', { jti: 'j'.repeat(1_024) }],
  ])('section 2.4: passes %s', (_, changes) => {
    expect(validate(changes).ok).toBe(true);
  });

  it.each(['logout+jwt', 'jwt', ''])('section 2.4: passes the type %j', (type) => {
    expect(validate({}, type).ok).toBe(true);
  });

  it.each(['at+jwt', 'secevent+jwt', 'dpop+jwt', 'id+jwt', 'logout', 'logout+jwt '])(
    'section 4.1: refuses the type %j',
    (type) => {
      expect(validate({}, type)).toEqual({ ok: false, error: 'typ' });
    },
  );

  it.each<[string, string, Claims]>([
    ['iss', 'no iss', { iss: undefined }],
    ['iss', 'another issuer', { iss: 'https://other.example' }],
    ['iss', 'the issuer with a slash', { iss: `${ISSUER}/` }],
    ['iss', 'an iss list', { iss: [ISSUER] }],
    ['aud', 'no aud', { aud: undefined }],
    ['aud', 'another audience', { aud: 'other' }],
    ['aud', 'an empty audience list', { aud: [] }],
    ['aud', 'an audience list without us', { aud: ['other', 'webb'] }],
    ['aud', 'an audience list with a number', { aud: ['web', 1] }],
    ['aud', 'an audience object', { aud: { web: 'web' } }],
    ['azp', 'a foreign azp', { azp: 'other' }],
    ['azp', 'a null azp', { azp: null }],
    ['exp', 'no exp', { exp: undefined }],
    ['exp', 'an exp that is over', { exp: NOW - 30 }],
    ['exp', 'an exp in a text', { exp: String(NOW + 60) }],
    ['exp', 'an exp of 1e300', { exp: 1e300 }],
    ['exp', 'an infinite exp', { exp: Number.POSITIVE_INFINITY }],
    ['exp', 'a negative exp', { exp: -1 }],
    ['exp', 'an exp in milliseconds', { exp: (NOW + 60) * 1_000 }],
    ['nbf', 'an nbf in the future', { nbf: NOW + 31 }],
    ['nbf', 'a null nbf', { nbf: null }],
    ['iat', 'no iat', { iat: undefined }],
    ['iat', 'an iat in the future', { iat: NOW + 31 }],
    ['iat', 'an iat of more than ten minutes ago', { iat: NOW - 630 }],
    ['iat', 'an iat in a text', { iat: String(NOW) }],
    ['iat', 'a negative iat', { iat: -1 }],
    ['jti', 'no jti', { jti: undefined }],
    ['jti', 'an empty jti', { jti: '' }],
    ['jti', 'a number for a jti', { jti: 7 }],
    ['jti', 'a jti of 1,025 characters', { jti: 'j'.repeat(1_025) }],
    ['events', 'no events', { events: undefined }],
    ['events', 'events in a text', { events: EVENT }],
    ['events', 'an events list', { events: [EVENT] }],
    ['events', 'null events', { events: null }],
    ['events', 'other events only', { events: { 'urn:other': {} } }],
    ['events', 'an event in other letters', { events: { [EVENT.toUpperCase()]: {} } }],
    ['events', 'an event that is null', { events: { [EVENT]: null } }],
    ['events', 'an event that is true', { events: { [EVENT]: true } }],
    ['events', 'an event that is a text', { events: { [EVENT]: '{}' } }],
    ['events', 'an event that is a list', { events: { [EVENT]: [] } }],
    ['nonce', 'a nonce', { nonce: 'n' }],
    ['nonce', 'an empty nonce', { nonce: '' }],
    ['nonce', 'a null nonce', { nonce: null }],
    ['sub', 'an empty sub', { sub: '' }],
    ['sub', 'a number for a sub', { sub: 7 }],
    ['sub', 'a null sub beside a sid', { sub: null }],
    ['sub', 'a sub with a line break', { sub: 'ada\n' }],
    ['sub', 'a sub of 256 characters', { sub: 'x'.repeat(256) }],
    ['sid', 'an empty sid', { sid: '' }],
    ['sid', 'a number for a sid', { sid: 7 }],
    ['sid', 'a null sid beside a sub', { sid: null }],
    ['sid', 'a sid list', { sid: ['s1'] }],
    ['no_sub_and_no_sid', 'neither sub nor sid', { sub: undefined, sid: undefined }],
    ['typ', 'the claim typ of a bearer token of Keycloak', { typ: 'Bearer' }],
    ['typ', 'the claim typ of an id_token of Keycloak', { typ: 'ID' }],
    ['typ', 'the claim token_use of Cognito', { token_use: 'id' }],
  ])('section 2.6: refuses for %s: %s', (check, _, changes) => {
    expect(validate(changes)).toEqual({ ok: false, error: check });
  });

  it('says until when it is accepted, and is refused from then on', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -630, max: 30 }),
        fc.integer({ min: -30, max: 2_000 }),
        (issued, ends) => {
          const claims = { iat: NOW + issued, exp: NOW + ends };
          const validated = validate(claims);
          if (!validated.ok) return;
          const until = validated.value.acceptedUntil / 1_000;
          expect(until).toBeGreaterThan(NOW);
          expect(until - claims.iat).toBeLessThanOrEqual(630);
          expect(validate(claims, 'jwt', until - 0.001).ok).toBe(true);
          expect(validate(claims, 'jwt', until).ok).toBe(false);
        },
      ),
    );
  });

  const anyClaim = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(...Object.values(GOOD), EVENT, 'web', NOW, NOW + 60, { [EVENT]: {} }),
  );
  const anyClaims = fc.dictionary(
    fc.constantFrom(...Object.keys(GOOD), 'nonce', 'azp', 'nbf', 'typ', '__proto__', 'constructor'),
    anyClaim,
  );

  it('never throws, and whatever it accepts keeps every MUST of section 2.4', () => {
    let accepted = 0;
    const anyType = fc.constantFrom('logout+jwt', 'jwt', '', 'at+jwt');
    fc.assert(
      fc.property(anyClaims, anyType, (changes, type) => {
        const claims = { ...GOOD, ...changes } as Record<string, JsonValue>;
        const validated = validateLogoutToken({ type, claims }, AUDIENCE, NOW);
        if (!validated.ok) return;
        accepted += 1;
        expect(type).not.toBe('at+jwt');
        const { iss, aud, iat, exp, jti, events, sub, sid } = claims;
        expect(iss).toBe(ISSUER);
        expect([aud].flat()).toContain('web');
        expect(Math.abs(Number(iat) - NOW)).toBeLessThanOrEqual(630);
        expect(Number(exp)).toBeGreaterThan(NOW - 30);
        expect(typeof jti).toBe('string');
        expect(Object.hasOwn(events as object, EVENT)).toBe(true);
        expect(Object.hasOwn(claims, 'nonce')).toBe(false);
        expect(typeof (sub ?? sid)).toBe('string');
        expect(validated.value).toMatchObject({ issuer: iss, subject: sub, sid, jti });
      }),
      { numRuns: 2_000 },
    );
    expect(accepted).toBeGreaterThan(0);
  });

  it('accepts nothing from which one of the required claims is taken', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('iss', 'aud', 'iat', 'exp', 'jti', 'events'),
        fc.constantFrom('logout+jwt', 'jwt', ''),
        (name, type) => {
          expect(validate({ [name]: undefined }, type)).toEqual({ ok: false, error: name });
        },
      ),
    );
  });
});

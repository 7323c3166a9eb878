import type { JsonValue } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import { toUserPrincipal, toUserRecord } from './user-record.ts';

type Claims = Readonly<Record<string, JsonValue>>;

const CLAIMS: Claims = {
  iss: 'https://idp.example',
  sub: 'ada-subject',
  name: 'Ada Lovelace',
  preferred_username: 'ada',
  given_name: 'Ada',
  family_name: 'Lovelace',
  email: 'ada@corp.example',
  email_verified: true,
  picture: 'https://idp.example/ada.png',
  tenant_id: 't',
  phone_number: '1',
};

describe('toUserRecord', () => {
  it('keeps what UserInfoResponse has fields for, the configured claims, and nothing else', () => {
    expect(toUserRecord(CLAIMS, ['tenant_id', 'absent'], false)).toEqual({
      subject: 'ada-subject',
      name: 'Ada Lovelace',
      preferredUsername: 'ada',
      givenName: 'Ada',
      familyName: 'Lovelace',
      email: 'ada@corp.example',
      picture: 'https://idp.example/ada.png',
      additionalClaims: { tenant_id: 't' },
    });
  });

  it('takes what is missing or of another type for unknown', () => {
    const claims: Claims = {
      sub: 'x',
      name: 7,
      preferred_username: null,
      given_name: ['a'],
      family_name: { a: 1 },
      picture: true,
    };
    expect(toUserRecord(claims, [], false)).toEqual({
      subject: 'x',
      name: '',
      preferredUsername: '',
      givenName: '',
      familyName: '',
      email: '',
      picture: '',
      additionalClaims: {},
    });
  });

  it.each(['name', 'preferred_username', 'given_name', 'family_name', 'picture', 'email'])(
    'takes a %s longer than any name for unknown: half of it would be another one',
    (claim) => {
      const field =
        {
          name: 'name',
          preferred_username: 'preferredUsername',
          given_name: 'givenName',
          family_name: 'familyName',
        }[claim] ?? claim;
      const recordOf = (value: string) => toUserRecord({ ...CLAIMS, [claim]: value }, [], false);
      expect(recordOf('x'.repeat(512))).toHaveProperty(field, 'x'.repeat(512));
      expect(recordOf('x'.repeat(513))).toHaveProperty(field, '');
    },
  );

  it('never makes one address of another by cutting it', () => {
    const victim = '@corp.example';
    const email = `${'a'.repeat(512 - victim.length)}${victim}.evil.example`;
    expect(toUserRecord({ ...CLAIMS, email }, [], false).email).toBe('');
    expect(toUserRecord({ ...CLAIMS, email, email_verified: false }, [], true).email).toBe('');
  });

  it('keeps an e-mail address only when it is verified or the issuer is known to check', () => {
    const unverified = { ...CLAIMS, email_verified: false };
    expect(toUserRecord(unverified, [], false).email).toBe('');
    expect(toUserRecord({ ...CLAIMS, email_verified: 'true' }, [], false).email).toBe('');
    expect(toUserRecord(unverified, [], true).email).toBe('ada@corp.example');
  });

  it('repairs lone surrogates, which no header and no JSON reader can carry', () => {
    const { name, email } = toUserRecord(
      { ...CLAIMS, name: 'A\ud800', email: 'a\udc00@corp.example' },
      [],
      false,
    );
    expect([name, email]).toEqual(['A\ufffd', 'a\ufffd@corp.example']);
  });

  it('keeps configured claims of any shape as they are', () => {
    const groups = ['a', { b: [1, null] }];
    expect(toUserRecord({ sub: 'x', groups }, ['groups'], false).additionalClaims).toEqual({
      groups,
    });
  });
});

describe('toUserPrincipal', () => {
  it('is a person of this very issuer', () => {
    expect(toUserPrincipal({ iss: 'https://idp.example', sub: 'ada' })).toEqual({
      issuer: 'https://idp.example',
      subject: 'ada',
      kind: 'user',
    });
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CLAIM_HEADER_PREFIX,
  canonicalHeaderName,
  DEFAULT_AUTHORIZATION_HEADER,
  HOP_BY_HOP_HEADERS,
  IDENTITY_HEADERS,
  isIdentityHeader,
} from './header-names.ts';

describe('isIdentityHeader', () => {
  it.each([
    ...Object.values(IDENTITY_HEADERS),
    `${CLAIM_HEADER_PREFIX}tenant-id`,
    'X-User-Subject',
    'X_User_Subject',
    'x_user_subject',
    'X-USER_SUBJECT',
    'x-user-anything-new',
    'x_user_claim_groups',
    'X-Amzn-Oidc-Identity',
    'x_amzn_oidc_data',
    'x.user.subject',
    'x-user~subject',
    "x'user'subject",
    'x!user|subject',
    'x-amzn.oidc-identity',
  ])('CVE-2025-64484: counts %s as an identity name', (name) => {
    expect(isIdentityHeader(name)).toBe(true);
  });

  it.each([
    'x-user',
    'x-users-online',
    'user-agent',
    'x-forwarded-user',
    'my-x-user-subject',
    'x-amzn-trace-id',
    '',
  ])('leaves %s alone', (name) => {
    expect(isIdentityHeader(name)).toBe(false);
  });

  it('knows an identity name in any mixture of case, - and _', () => {
    const spelling = fc
      .constantFrom(...Object.values(IDENTITY_HEADERS), `${CLAIM_HEADER_PREFIX}x`)
      .chain((name) =>
        fc.tuple(
          ...Array.from(name, (char) =>
            char === '-' ? fc.constantFrom('-', '_') : fc.constantFrom(char, char.toUpperCase()),
          ),
        ),
      )
      .map((characters) => characters.join(''));
    fc.assert(
      fc.property(spelling, (name) => {
        expect(isIdentityHeader(name)).toBe(true);
      }),
    );
  });
});

describe('header names', () => {
  it('brings a name into one spelling, once and for all', () => {
    expect(canonicalHeaderName('X_User-SUBJECT')).toBe('x-user-subject');
    fc.assert(
      fc.property(fc.string(), (name) => {
        const canonical = canonicalHeaderName(name);
        expect(canonicalHeaderName(canonical)).toBe(canonical);
      }),
    );
  });

  it('Bearer header, rule 1: names core-authorization', () => {
    expect(DEFAULT_AUTHORIZATION_HEADER).toBe('core-authorization');
  });

  it('RFC 9110 7.6.1: lists hop-by-hop names in lower case, and no end-to-end name among them', () => {
    for (const name of [
      'connection',
      'keep-alive',
      'te',
      'trailer',
      'transfer-encoding',
      'upgrade',
      'proxy-authorization',
    ])
      expect(HOP_BY_HOP_HEADERS.has(name)).toBe(true);
    for (const name of HOP_BY_HOP_HEADERS) expect(name).toBe(name.toLowerCase());
    for (const name of [
      'cookie',
      'authorization',
      'host',
      'content-length',
      DEFAULT_AUTHORIZATION_HEADER,
    ])
      expect(HOP_BY_HOP_HEADERS.has(name)).toBe(false);
  });
});

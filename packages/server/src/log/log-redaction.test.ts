import { describe, expect, it } from 'vitest';
import { cutText, REDACTED, redactFields } from './log-redaction.ts';

const CANARY = 'canary-7f3a';
const SEGMENT = 'A'.repeat(43);

describe('a field that is named like a secret', () => {
  it.each([
    ...'token secret cookie code password authorization state id_token access_token'.split(' '),
    ...'refresh_token client_secret clientSecret logout_token set_cookie Set-Cookie'.split(' '),
    ...'code_verifier codeVerifier client_assertion proxy-authorization passwd nonce'.split(' '),
    ...'authorization_code device_code user_code private_key jwt credentials CODE'.split(' '),
  ])('%s is replaced, whatever it holds', (name) => {
    expect(redactFields({ [name]: CANARY, reason: 'kept' })).toEqual({
      [name]: REDACTED,
      reason: 'kept',
    });
  });

  it.each(['reason', 'event', 'exit_code', 'error', 'check', 'problem', 'issuer', 'subject'])(
    '%s is none',
    (name) => {
      expect(redactFields({ [name]: 'kept' })).toEqual({ [name]: 'kept' });
    },
  );
});

describe('a list of texts', () => {
  it('loses what is shaped like a credential and keeps the rest; one without any is the same list', () => {
    const changed = ['access.groups', 'Bearer abcdefghij', 'rateLimit.perMinute'];
    expect(redactFields({ changed })).toEqual({
      changed: ['access.groups', REDACTED, 'rateLimit.perMinute'],
    });
    const fields = { changed: ['access.groups', 'a b'] };
    expect(redactFields(fields)).toBe(fields);
  });
});

describe('a text that is shaped like a credential', () => {
  it.each([
    ['a JWT', `header eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEi.${SEGMENT} rest`],
    ['a JWT without a signature', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEi.'],
    ['a JWE', `eyJhbGciOiJkaXIifQ..${SEGMENT}.AAAA.BBBB`],
    ['the value of a session cookie', `core_session=Ab-_5678.${SEGMENT}; x`],
    ['a bearer', 'Authorization: Bearer abcdefghij'],
    ['a password of Basic', 'basic YWRhOmNhbmFyeQ=='],
    ['a code in a query', 'GET /callback?state=abcdefgh&code=ijklmnop'],
    ['a refresh token in a form', 'x=1&refresh_token=ijklmnop'],
    ['a JWT that was cut off', 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEi'],
    ['the beginning of a JWT', 'eyJzdWIiOiJhZGEi'],
    ['a cookie value with something behind it', `/p/Ab-_5678.${SEGMENT}x`],
    ['a cookie value with something before it', `/pAb-_5678.${SEGMENT}`],
    ['a cookie value, percent-encoded', `/p/Ab-_5678%2E${SEGMENT}`],
    ['a cookie value, encoded twice', `/p/Ab-_5678%252e${SEGMENT}`],
    ['a bearer, percent-encoded', '/p/Bearer%20abcdefghij'],
    ['a query, percent-encoded', '/cb%3Fcode=ijklmnop%26x=%C3%A4%zz'],
    ['a password in a URL', 'redis://:YWRhOm@redis.internal/0'],
    ['a password without a scheme', '//ada:YWRhOm@host/p'],
    ['a private key', `-----BEGIN PRIVATE KEY-----\n${SEGMENT}`],
  ])('%s does not get through', (_, text) => {
    const { reason } = redactFields({ reason: text });
    expect(reason).toContain(REDACTED);
    for (const secret of [SEGMENT, 'eyJzdWIi', 'abcdefgh', 'YWRhOm', 'ijklmnop'])
      expect(reason).not.toContain(secret);
  });

  it.each([
    'https://idp.example.com/realms/main',
    'auth0|5f7c8ec7c33c6c004bbafe82',
    '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
    'SallyportError SP_STORE_UNAVAILABLE (store:local)',
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    '/api/v1/projects/flytesnacks/domains/development',
    'the bearer is not accepted',
    'https://keycloak.production-cluster-europe-west.example.com/realms/main',
    '/files/report%20of%20ada.pdf',
    '/50%/of%zz',
    '//cdn.example.com/ada@example.com',
    '/eyeglasses.example.txt',
    '2001:db8::1',
  ])('%j is none, and stays as it is', (text) => {
    const fields = { reason: text };
    expect(redactFields(fields)).toBe(fields);
  });
});

describe('a text that is too long for a line', () => {
  it.each([
    ['a session cookie', `Ab-_5678.${SEGMENT}`],
    ['a JWT', `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEi.${SEGMENT}`],
  ])('shows no part of %s, wherever it is cut', (_, secret) => {
    const text = `/console/${secret}`;
    for (let length = 1; length <= text.length; length += 1) {
      const shown = redactFields({ path: cutText(text, length) })['path'];
      expect(shown).not.toContain(secret.slice(0, 10));
      expect(String(shown).length).toBeLessThanOrEqual(
        Math.max(length, '/console/[redacted]'.length),
      );
    }
  });

  it('is cut there and nowhere else', () => {
    expect(cutText('/console', 8)).toBe('/console');
    expect(cutText('/console', 7)).toBe('/consol');
  });
});

it('leaves numbers, booleans, null and absent fields alone', () => {
  const fields = { count: 1, isFirst: false, subject: null, rule: undefined };
  expect(redactFields(fields)).toBe(fields);
});

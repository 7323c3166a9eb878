import { describe, expect, it } from 'vitest';
import { REDACTED, redactFields } from './log-redaction.ts';

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
    'SallyportError SP_STORE_UNAVAILABLE: SP_STORE_UNAVAILABLE (store:local)',
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    '/api/v1/projects/flytesnacks/domains/development',
    'the bearer is not accepted',
    '2001:db8::1',
  ])('%j is none, and stays as it is', (text) => {
    const fields = { reason: text };
    expect(redactFields(fields)).toBe(fields);
  });
});

it('leaves numbers, booleans, null and absent fields alone', () => {
  const fields = { count: 1, isFirst: false, subject: null, rule: undefined };
  expect(redactFields(fields)).toBe(fields);
});

/** One thing wrong with each token: RFC 8725, RFC 9068 section 4, and what was done to others. */

import { createHmac } from 'node:crypto';
import {
  AUDIENCE,
  createSigningKey,
  encodePart,
  forgeToken,
  HONEST_CLAIMS,
  ISSUER,
  NATIVE_CLIENT,
  signInput,
  WEB_CLIENT,
} from '@sallyport/testing/idp/forge';
import { createBearerUnderTest } from '@sallyport/testing/server/bearer';
import { NOON } from '@sallyport/testing/time/clock';
import { describe, expect, it } from 'vitest';

const KEY = createSigningKey('RS256', 'rsa');
const EC_KEY = createSigningKey('ES256', 'ec');
const ED_KEY = createSigningKey('EdDSA', 'ed');
const FOREIGN = createSigningKey('RS256', 'rsa');
const PUBLISHED = [KEY.jwk, EC_KEY.jwk, ED_KEY.jwk];
const NOW = NOON / 1_000;

/** Nothing of a token counts that is not verified: neither its subject nor its client is reported. */
const NOT_ACCEPTED = {
  outcome: 'refused',
  reason: 'bearer_not_accepted',
  token: expect.objectContaining({ subject: undefined, client: undefined }),
};

type Claims = Readonly<Record<string, unknown>>;
const honest = (claims: Claims = {}, header: Claims = {}) =>
  forgeToken(KEY, { ...HONEST_CLAIMS, ...claims }, header);

/** One change of an honest token each, and the check that has to catch it. */
const ATTACKS: readonly (readonly [string, string, () => string])[] = [
  // Signature and algorithm.
  ['alg none, unsigned', 'form', () => honest({}, { alg: 'none' }).replace(/[^.]*$/, '')],
  ['alg none, signed', 'algorithm', () => honest({}, { alg: 'none' })],
  ['alg None', 'algorithm', () => honest({}, { alg: 'None' })],
  ['alg empty', 'algorithm', () => honest({}, { alg: '' })],
  ['HS256 with the RSA public key as secret', 'algorithm', () => forgeHmac('pem')],
  ['HS256 with the modulus as secret', 'algorithm', () => forgeHmac('jwk')],
  ['another algorithm of the same key', 'unknown_key', () => honest({}, { alg: 'PS256' })],
  ['an algorithm of another type of key', 'unknown_key', () => honest({}, { alg: 'ES256' })],
  ['ES256 with r = s = 0', 'signature', () => withSignature(EC_KEY, Buffer.alloc(64))],
  ['ES256 with a DER signature', 'signature', () => withSignature(EC_KEY, derSignature())],
  ['an empty signature of one byte', 'signature', () => withSignature(KEY, Buffer.alloc(1))],
  ['a foreign key under the same id', 'signature', () => forgeToken(FOREIGN, HONEST_CLAIMS)],
  [
    'a claim changed after signing',
    'signature',
    () => withPayload({ ...HONEST_CLAIMS, sub: 'eve' }),
  ],
  ['a header changed after signing', 'signature', () => withHeader({ alg: 'RS256', kid: 'rsa' })],
  [
    'its own key in jwk',
    'signature',
    () => forgeToken(FOREIGN, HONEST_CLAIMS, { jwk: FOREIGN.jwk }),
  ],
  [
    'its own key behind jku',
    'unknown_key',
    () => forgeToken(FOREIGN, HONEST_CLAIMS, { kid: 'x', jku: 'https://evil.example' }),
  ],
  // Key ids.
  ['an unknown kid', 'unknown_key', () => honest({}, { kid: 'unknown' })],
  ['a kid that is a path', 'unknown_key', () => honest({}, { kid: '../../dev/null' })],
  ['a kid that is SQL', 'unknown_key', () => honest({}, { kid: "x' UNION SELECT 'key' --" })],
  ['a kid of every object', 'unknown_key', () => honest({}, { kid: '__proto__' })],
  ['a kid of 10 kB', 'header', () => honest({}, { kid: 'k'.repeat(10_000) })],
  ['a kid that is a number', 'header', () => honest({}, { kid: 0 })],
  ['a kid that is a list', 'header', () => honest({}, { kid: ['rsa'] })],
  // Header extensions.
  ['an unknown crit', 'header', () => honest({}, { crit: ['x'], x: 1 })],
  ['crit of something known', 'header', () => honest({}, { crit: ['exp'] })],
  ['b64 false', 'header', () => honest({}, { b64: false, crit: ['b64'] })],
  ['compression', 'header', () => honest({}, { zip: 'DEF' })],
  ['a JWE', 'form', () => 'eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d'],
  // Form.
  ['a claim given twice', 'payload', () => forgeToken(KEY, twice(HONEST_CLAIMS, 'sub', 'eve'))],
  [
    'a header member given twice',
    'header',
    () => forgeToken(KEY, HONEST_CLAIMS, '{"alg":"none","alg":"RS256","kid":"rsa"}'),
  ],
  ['a token inside', 'payload', () => forgeToken(KEY, honest())],
  ['text behind', 'form', () => `${honest()} `],
  ['padding', 'form', () => `${honest()}==`],
  ['a comma and another token', 'form', () => `${honest()},${honest()}`],
  ['more than 16 KiB', 'size', () => honest({ filler: 'x'.repeat(12_500) })],
  // Issuer.
  ['another issuer', 'unknown_issuer', () => honest({ iss: 'https://evil.example' })],
  ['the issuer with a slash', 'unknown_issuer', () => honest({ iss: `${ISSUER}/` })],
  ['the issuer in another case', 'unknown_issuer', () => honest({ iss: ISSUER.toUpperCase() })],
  ['no issuer', 'unknown_issuer', () => honest({ iss: undefined })],
  ['a list with the issuer', 'unknown_issuer', () => honest({ iss: [ISSUER] })],
  // Audience.
  ['another audience', 'aud', () => honest({ aud: 'https://other.example' })],
  ['the audience as a prefix', 'aud', () => honest({ aud: `${AUDIENCE}.evil.example` })],
  ['a path below the audience', 'aud', () => honest({ aud: `${AUDIENCE}/api` })],
  ['the audience over http', 'aud', () => honest({ aud: AUDIENCE.replace('https', 'http') })],
  ['the audience with a user', 'aud', () => honest({ aud: 'https://x@flow.example' })],
  ['no audience', 'aud', () => honest({ aud: undefined })],
  ['an empty list of audiences', 'aud', () => honest({ aud: [] })],
  ['an audience that is an object', 'aud', () => honest({ aud: { [AUDIENCE]: true } })],
  ['a list with something else in it', 'aud', () => honest({ aud: [AUDIENCE, 7] })],
  ['the web client as audience', 'aud', () => honest({ aud: WEB_CLIENT })],
  ['the native client as audience', 'aud', () => honest({ aud: NATIVE_CLIENT })],
  // Time.
  ['no exp', 'exp', () => honest({ exp: undefined })],
  ['exp in the past', 'exp', () => honest({ exp: NOW - 30 })],
  ['exp as text', 'exp', () => honest({ exp: String(NOW + 60) })],
  ['exp with a fraction', 'exp', () => honest({ exp: NOW + 60.5 })],
  [
    'exp 1e300',
    'exp',
    () => forgeToken(KEY, JSON.stringify(HONEST_CLAIMS).replace(/"exp":\d+/, '"exp":1e300')),
  ],
  [
    'exp 1e999',
    'exp',
    () => forgeToken(KEY, JSON.stringify(HONEST_CLAIMS).replace(/"exp":\d+/, '"exp":1e999')),
  ],
  ['exp negative', 'exp', () => honest({ exp: -1 })],
  ['exp in milliseconds', 'exp', () => honest({ exp: NOON + 3_600_000_000_000 })],
  ['exp null', 'exp', () => honest({ exp: null })],
  ['nbf in the future', 'nbf', () => honest({ nbf: NOW + 61 })],
  ['nbf as text', 'nbf', () => honest({ nbf: String(NOW) })],
  ['nbf null', 'nbf', () => honest({ nbf: null })],
  ['iat in the future', 'iat', () => honest({ iat: NOW + 61 })],
  ['iat as text', 'iat', () => honest({ iat: 'yesterday' })],
  // Subject and client.
  ['no sub', 'sub', () => honest({ sub: undefined })],
  ['an empty sub', 'sub', () => honest({ sub: '' })],
  ['a sub of 256 characters', 'sub', () => honest({ sub: 's'.repeat(256) })],
  ['a sub with a line break', 'sub', () => honest({ sub: 'ada\r\nx-user-subject: eve' })],
  ['a sub with a NUL', 'sub', () => honest({ sub: 'ada\u0000' })],
  ['a sub that looks like another', 'sub', () => honest({ sub: 'аda' })],
  ['a sub that is a number', 'sub', () => honest({ sub: 7 })],
  ['the web app’s own, by client_id', 'client', () => honest({ client_id: WEB_CLIENT })],
  ['the web app’s own, by azp', 'client', () => honest({ azp: WEB_CLIENT })],
  [
    'the web app’s own, by azp alone',
    'client',
    () => honest({ client_id: undefined, azp: WEB_CLIENT }),
  ],
  ['the web app’s own, by cid', 'client', () => honest({ cid: WEB_CLIENT })],
  ['the web app’s own, by appid', 'client', () => honest({ appid: WEB_CLIENT })],
  // Other kinds of tokens.
  ['an id_token, by nonce', 'not_an_access_token', () => honest({ nonce: 'n' }, { typ: 'JWT' })],
  [
    'an id_token, by at_hash',
    'not_an_access_token',
    () => honest({ at_hash: 'h' }, { typ: undefined }),
  ],
  [
    'an id_token, by c_hash',
    'not_an_access_token',
    () => honest({ c_hash: 'h' }, { typ: undefined }),
  ],
  [
    'an id_token, by its claim typ',
    'not_an_access_token',
    () => honest({ typ: 'ID' }, { typ: 'JWT' }),
  ],
  [
    'an id_token, by token_use',
    'not_an_access_token',
    () => honest({ token_use: 'id' }, { typ: 'JWT' }),
  ],
  ['a refresh token', 'not_an_access_token', () => honest({ typ: 'Refresh' }, { typ: 'JWT' })],
  ['a logout token', 'not_an_access_token', () => honest({}, { typ: 'logout+jwt' })],
  [
    'a logout token, by events',
    'not_an_access_token',
    () => honest({ events: {} }, { typ: 'JWT' }),
  ],
  ['a security event', 'not_an_access_token', () => honest({}, { typ: 'secevent+jwt' })],
  [
    'a client assertion',
    'not_an_access_token',
    () => honest({}, { typ: 'client-authentication+jwt' }),
  ],
  [
    'an assertion of our own',
    'not_an_access_token',
    () => honest({}, { typ: 'sallyport-assertion+jwt' }),
  ],
  ['a proof of possession', 'not_an_access_token', () => honest({}, { typ: 'dpop+jwt' })],
  ['bound to a DPoP key', 'bound_to_a_key', () => honest({ cnf: { jkt: 'x' } })],
  ['bound to a certificate', 'bound_to_a_key', () => honest({ cnf: { 'x5t#S256': 'x' } })],
  // No JWT at all.
  ['opaque', 'opaque', () => 'opaque-token'],
  ['empty parts', 'form', () => '..'],
];

describe('a token with one thing wrong', () => {
  it.each(ATTACKS)('%s is refused by the check "%s"', async (_, problem, forge) => {
    const { ask, problems, timers, failures } = await createBearerUnderTest(PUBLISHED);
    const token = forge();
    expect(await ask(token)).toEqual(NOT_ACCEPTED);
    expect(problems).toEqual([problem]);
    // Nor after the key set was looked at again, and nothing of it was remembered.
    await timers.advance(30_000);
    expect(await ask(token)).toEqual(NOT_ACCEPTED);
    expect(failures).toEqual([]);
  });

  it('and the very same token without it is admitted, so that the table can fail', async () => {
    const { ask } = await createBearerUnderTest(PUBLISHED);
    expect(await ask(honest())).toMatchObject({ outcome: 'admitted' });
  });
});

function forgeHmac(secret: 'pem' | 'jwk'): string {
  const head = encodePart({ alg: 'HS256', typ: 'at+jwt', kid: 'rsa' });
  const input = `${head}.${encodePart(HONEST_CLAIMS)}`;
  const text =
    secret === 'pem' ? KEY.publicKey.export({ type: 'spki', format: 'pem' }) : String(KEY.jwk['n']);
  return `${input}.${createHmac('sha256', text).update(input).digest('base64url')}`;
}

function withSignature(key: typeof KEY, signature: Buffer): string {
  const token = forgeToken(key, HONEST_CLAIMS);
  return `${token.slice(0, token.lastIndexOf('.'))}.${signature.toString('base64url')}`;
}

function derSignature(): Buffer {
  const raw = signInput('x', EC_KEY);
  return Buffer.concat([
    Buffer.from([0x30, 68, 2, 32]),
    raw.subarray(0, 32),
    Buffer.from([2, 32]),
    raw.subarray(32),
  ]);
}

function withPayload(claims: Claims): string {
  const [head, , signature] = honest().split('.');
  return `${head}.${encodePart(claims)}.${signature}`;
}

function withHeader(header: Claims): string {
  const [, payload, signature] = honest().split('.');
  return `${encodePart(header)}.${payload}.${signature}`;
}

function twice(claims: Claims, name: string, value: unknown): string {
  return JSON.stringify(claims).replace('{', `{${JSON.stringify(name)}:${JSON.stringify(value)},`);
}

import { createPublicKey, generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessClaims, accessToken, BEARER_HEADER } from '../wire/bearer.ts';
import { exchange } from '../wire/exchange.ts';
import { fixedSignature, hs256, rs256, type Signer, writeJws } from '../wire/forge.ts';
import { callGrpc } from '../wire/grpc.ts';
import { type Service, startHostedService, WEB_CLIENT_ID } from '../wire/platform.ts';

let service: Service;
beforeAll(async () => {
  service = await startHostedService();
});
afterAll(() => service.stop());

const USER_INFO = '/flyteidl2.auth.IdentityService/UserInfo';
const UNAUTHENTICATED = 16;
const PERMISSION_DENIED = 7;

/** How each door answers a token: status of `/me`, gRPC code, status of the Connect call. */
async function answers(token: string): Promise<readonly [number, number, number]> {
  const headers = { [BEARER_HEADER]: `Bearer ${token}` };
  const me = await exchange(`${service.url}/me`, { headers });
  const grpc = await callGrpc(service.url + USER_INFO, { headers });
  const connect = await exchange(service.url + USER_INFO, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{}',
  });
  return [me.status, grpc.status, connect.status];
}

const ADMITTED = [200, 0, 200] as const;
const REFUSED = [401, UNAUTHENTICATED, 401] as const;
const FORBIDDEN = [403, PERMISSION_DENIED, 403] as const;

const token = (claims: object | string = {}, header: object | string = {}, sign?: Signer) =>
  accessToken(service.idp, service.url, claims, header, sign);
const now = () => Math.floor(Date.now() / 1_000);

describe('An honest token is admitted on HTTP, gRPC and Connect alike', () => {
  it.each<readonly [string, () => Promise<string>]>([
    ['as it is', () => token()],
    ['with typ JWT', () => token({}, { typ: 'JWT' })],
    ['without typ', () => token({}, { typ: undefined })],
    ['with several audiences, one of them this one', () => token({ aud: ['x', service.url] })],
    ['with scp as a list', () => token({ scope: undefined, scp: ['offline', 'all'] })],
    ['with scp as one string', () => token({ scope: undefined, scp: 'offline all' })],
    ['with scope as a list', () => token({ scope: ['all'] })],
    [
      'with headers that name other keys, which are not looked at',
      () => token({}, { jku: 'https://evil.example/jwks', x5u: 'https://evil.example/x' }),
    ],
  ])('%s', async (_, make) => {
    expect(await answers(await make())).toEqual(ADMITTED);
  });
});

describe('A token without the scope is known and may not enter', () => {
  it.each<readonly [string, object]>([
    ['no scope at all', { scope: undefined }],
    ['another scope', { scope: 'offline' }],
    ['a scope that only begins like it', { scope: 'allegedly' }],
    ['a scope of the wrong type', { scope: { all: true } }],
    ['the scope in other letters', { scope: 'ALL' }],
  ])('%s: 403 and PERMISSION_DENIED, no way to sign in', async (_, claims) => {
    const bearer = await token(claims);
    expect(await answers(bearer)).toEqual(FORBIDDEN);
    const me = await exchange(`${service.url}/me`, {
      headers: { [BEARER_HEADER]: `Bearer ${bearer}` },
    });
    expect(me.headers['www-authenticate']).toContain('insufficient_scope');
    expect(me.location).toBeUndefined();
  });
});

describe('A signature that is not the issuer’s is refused on HTTP, gRPC and Connect alike', () => {
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const otherKey: Signer = (input) => signBytes('sha256', Buffer.from(input), other.privateKey);
  const publicPem = () =>
    createPublicKey({ key: service.idp.publicJwk, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    });

  it.each<readonly [string, () => Promise<string>]>([
    ['alg none', () => token({}, { alg: 'none' }, fixedSignature(Buffer.alloc(0)))],
    ['alg None', () => token({}, { alg: 'None' }, fixedSignature(Buffer.alloc(0)))],
    ['alg none with the real signature', () => token({}, { alg: 'none' })],
    ['HS256 with the public key as PEM', () => token({}, { alg: 'HS256' }, hs256(publicPem()))],
    [
      'HS256 with the public key as modulus',
      () =>
        token({}, { alg: 'HS256' }, hs256(Buffer.from(service.idp.publicJwk.n ?? '', 'base64url'))),
    ],
    ['HS256 with the empty secret', () => token({}, { alg: 'HS256' }, hs256(''))],
    ['another RSA key', () => token({}, {}, otherKey)],
    [
      'another RSA key, given along as jwk',
      () => token({}, { jwk: other.publicKey.export({ format: 'jwk' }) }, otherKey),
    ],
    [
      'an elliptic key under the RSA kid',
      () =>
        token({}, { alg: 'ES256' }, (input) =>
          signBytes('sha256', Buffer.from(input), {
            key: elliptic.privateKey,
            dsaEncoding: 'ieee-p1363',
          }),
        ),
    ],
    [
      'ES256 with r and s zero',
      () => token({}, { alg: 'ES256' }, fixedSignature(Buffer.alloc(64))),
    ],
    ['PS256 announced, RS256 made', () => token({}, { alg: 'PS256' })],
    ['no signature', () => token({}, {}, fixedSignature(Buffer.alloc(0)))],
    ['a signature of zeros', () => token({}, {}, fixedSignature(Buffer.alloc(256)))],
    ['a truncated signature', async () => (await token()).slice(0, -4)],
    ['bytes behind the signature', async () => `${await token()}AAAA`],
    ['a fourth part', async () => `${await token()}.AAAA`],
    ['padding', async () => `${await token()}==`],
    [
      'a payload changed after signing',
      async () => {
        const [header, , signature] = (await token()).split('.');
        const changed = { ...accessClaims(service.idp, service.url), sub: 'grace' };
        return `${header}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`;
      },
    ],
  ])('%s', async (_, make) => {
    expect(await answers(await make())).toEqual(REFUSED);
  });
});

describe('A header that asks for something else is refused', () => {
  it.each<readonly [string, object | string]>([
    ['an unknown crit', { crit: ['exp'] }],
    ['b64 false', { crit: ['b64'], b64: false }],
    ['b64 false without crit', { b64: false }],
    ['zip', { zip: 'DEF' }],
    ['enc, as of an encrypted token', { alg: 'RSA-OAEP', enc: 'A256GCM' }],
    ['a kid that is a path', { kid: '../../../../dev/null' }],
    ['a kid that is SQL', { kid: "k1' OR '1'='1" }],
    ['a kid of 10 kB', { kid: 'k'.repeat(10_000) }],
    ['a kid that is a number', { kid: 1 }],
    ['a kid that is a list', { kid: ['k1'] }],
    ['the key alg twice', '{"alg":"none","alg":"RS256","kid":"k1","typ":"at+jwt"}'],
    ['no object', '"RS256"'],
    ['null', 'null'],
    ['no JSON', '{alg:RS256}'],
    ['typ of a logout token', { typ: 'logout+jwt' }],
    ['typ of a client assertion', { typ: 'client-authentication+jwt' }],
    ['typ of proof of possession', { typ: 'dpop+jwt' }],
  ])('%s', async (_, header) => {
    const bearer = await token({}, header);
    // One of a key that is not known is undecided as long as the issuer may not be asked once more.
    await expect.poll(() => answers(bearer), { timeout: 30_000 }).toEqual(REFUSED);
  });
});

describe('A claim that is not as it must be is refused', () => {
  it.each<readonly [string, () => object | string]>([
    ['another issuer', () => ({ iss: 'https://evil.example' })],
    ['the issuer with a slash behind it', () => ({ iss: `${service.idp.issuer}/` })],
    ['no issuer', () => ({ iss: undefined })],
    ['the issuer as a list', () => ({ iss: [service.idp.issuer] })],
    ['another audience', () => ({ aud: 'https://other.example' })],
    ['the audience with a slash behind it and more', () => ({ aud: `${service.url}/x` })],
    ['an audience that only begins like it', () => ({ aud: `${service.url}.evil.example` })],
    ['no audience', () => ({ aud: undefined })],
    ['an empty list of audiences', () => ({ aud: [] })],
    ['an audience that is an object', () => ({ aud: { [service.url]: true } })],
    ['no end', () => ({ exp: undefined })],
    ['an end that has passed', () => ({ exp: now() - 120 })],
    ['an end in another type', () => ({ exp: String(now() + 300) })],
    [
      'an end of 1e300',
      () =>
        `{"iss":"${service.idp.issuer}","sub":"ada","aud":"${service.url}","scope":"all","exp":1e300}`,
    ],
    ['a negative end', () => ({ exp: -1 })],
    ['an end that is no number', () => ({ exp: null })],
    ['a beginning that is to come', () => ({ nbf: now() + 3_600 })],
    ['a beginning in another type', () => ({ nbf: 'now' })],
    ['issued in the future', () => ({ iat: now() + 3_600 })],
    ['issued in another type', () => ({ iat: 'now' })],
    ['no subject', () => ({ sub: undefined })],
    ['an empty subject', () => ({ sub: '' })],
    ['a subject of 256 characters', () => ({ sub: 's'.repeat(256) })],
    ['a subject that is a number', () => ({ sub: 7 })],
    [
      'the audience twice',
      () => {
        const honest = JSON.stringify(accessClaims(service.idp, 'https://other.example'));
        return honest.replace('"aud":', `"aud":"${service.url}","aud":`);
      },
    ],
    [
      'the subject twice',
      () => {
        const honest = JSON.stringify(accessClaims(service.idp, service.url));
        return honest.replace('"sub":', '"sub":"root","sub":');
      },
    ],
    ['text behind the JSON', () => `${JSON.stringify(accessClaims(service.idp, service.url))} x`],
    ['a list', () => '[]'],
    ['null', () => 'null'],
  ])('%s', async (_, claims) => {
    expect(await answers(await token(claims()))).toEqual(REFUSED);
  });
});

describe('A token that is meant for something else is refused', () => {
  it.each<readonly [string, () => Promise<string>]>([
    [
      'an id_token of the web app',
      () => token({ aud: WEB_CLIENT_ID, nonce: 'n', scope: undefined }, { typ: 'JWT' }),
    ],
    [
      'an id_token of the web app that names this audience too',
      () =>
        token(
          { aud: [WEB_CLIENT_ID, service.url], azp: WEB_CLIENT_ID, nonce: 'n' },
          { typ: 'JWT' },
        ),
    ],
    [
      'an id_token of the native app',
      () => token({ aud: 'cli-client', azp: 'cli-client', at_hash: 'x' }, { typ: 'JWT' }),
    ],
    ['an access token of the web app', () => token({ client_id: WEB_CLIENT_ID })],
    [
      'an access token of the web app by azp',
      () => token({ client_id: undefined, azp: WEB_CLIENT_ID }),
    ],
    [
      'a logout token',
      () =>
        token({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} }, sid: 's' }),
    ],
    ['our own assertion', () => token({ iss: service.url })],
  ])('%s', async (_, make) => {
    expect(await answers(await make())).toEqual(REFUSED);
  });

  it('a token longer than any honest one is refused', async () => {
    const long = await token({ padding: 'p'.repeat(30_000) });
    expect((await answers(long))[0]).toBe(401);
  });

  it.each(['x', 'a.b', 'a.b.c', '...', 'null', '💥', 'e30.e30.e30', '-'.repeat(200)])(
    'what is no token at all: %s',
    async (text) => {
      expect(await answers(encodeURIComponent(text))).toEqual(REFUSED);
    },
  );

  it('a nested token is refused', async () => {
    const inner = await token();
    const header = { alg: 'RS256', kid: 'k1', typ: 'at+jwt', cty: 'JWT' };
    const outer = await writeJws(header, `"${inner}"`, rs256(service.idp.signingKey));
    expect(await answers(outer)).toEqual(REFUSED);
  });
});

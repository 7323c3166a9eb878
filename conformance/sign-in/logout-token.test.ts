import { createHash, generateKeyPairSync } from 'node:crypto';
import { type FakeIdp, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { CompactEncrypt, exportJWK, generateKeyPair, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import { exchange } from '../wire/exchange.ts';
import { es256, fixedSignature, hs256, rs256 } from '../wire/forge.ts';
import {
  expectDone,
  expectInvalid,
  expectNotAccepted,
  forgeLogoutToken,
  LOGOUT_EVENT,
  LOGOUT_PATH,
  type LogoutForgery,
  logout,
  nextPerson,
  postLogout,
  sendLogoutToken,
  signInAs,
} from '../wire/logout-token.ts';
import {
  type Service,
  startHostedService,
  WEB_CLIENT_ID,
  WEB_CLIENT_SECRET,
} from '../wire/platform.ts';
import { askMe, beginsSession } from '../wire/sign-in.ts';

const FORM = 'application/x-www-form-urlencoded';
const seconds = () => Math.floor(Date.now() / 1_000);

describe('At the back-channel logout endpoint', () => {
  let service: Service;
  let idp: FakeIdp;
  let ec: CryptoKey;
  let attackersKey: CryptoKey;
  let victim: Browser;
  const VICTIM = { sub: 'victim', sid: 'victim-session' };

  beforeAll(async () => {
    idp = await startFakeIdp(WEB_CLIENT_ID);
    const ecPair = await generateKeyPair('ES256', { extractable: true });
    ec = ecPair.privateKey;
    const attackersPair = await generateKeyPair('RS256', { extractable: true });
    attackersKey = attackersPair.privateKey;
    const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey;
    idp.keys = [
      { ...(await exportJWK(ecPair.publicKey)), kid: 'e1', alg: 'ES256', use: 'sig' },
      { ...(await exportJWK(attackersPair.publicKey)), kid: 'for-encryption', use: 'enc' },
      { ...(weak.export({ format: 'jwk' }) as JWK), kid: 'weak', use: 'sig' },
    ];
    // As careless as an IdP can be: whatever is offered here must still be refused.
    idp.metadata = {
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'HS256', 'none', 'None'],
    };
    service = await startHostedService({}, [], idp);
    victim = await signInAs(service, VICTIM.sub, VICTIM.sid);
  });
  afterAll(() => service.stop());

  const attackersJwk = async () => exportJWK(attackersKey);
  /** A token that would end the victim's session but for what is changed. */
  const refused = async (forgery: LogoutForgery) => {
    const claims = { ...VICTIM, ...forgery.claims };
    const token = await forgeLogoutToken(idp, { ...forgery, claims });
    expectInvalid(await sendLogoutToken(service.url, token));
    expect(await askMe(service, victim)).toBe(200);
  };
  /**
   * The same where the key is none of the IdP's. Whether the answer is final depends on when its keys were
   * fetched last, which is another test's subject.
   */
  const refusedForKey = async (forgery: LogoutForgery) => {
    const claims = { ...VICTIM, ...forgery.claims };
    expectNotAccepted(await logout(service, claims, forgery));
    expect(await askMe(service, victim)).toBe(200);
  };
  const accepted = async (forgery: LogoutForgery) => {
    const { sub, sid } = nextPerson();
    const browser = await signInAs(service, sub, sid);
    const claims = { sub, sid, ...forgery.claims };
    const token = await forgeLogoutToken(idp, { ...forgery, claims });
    expectDone(await sendLogoutToken(service.url, token));
    expect(await askMe(service, browser)).toBe(401);
  };

  describe('2.4: a logout token is accepted', () => {
    it.each<[string, LogoutForgery]>([
      ['of the type logout+jwt', {}],
      ['of the type application/logout+jwt', { header: { typ: 'application/logout+jwt' } }],
      ['of the type JWT', { header: { typ: 'JWT' } }],
      ['without a type', { header: { typ: undefined } }],
      ['of an empty type', { header: { typ: '' } }],
      ['for us and another audience', { claims: { aud: ['other', WEB_CLIENT_ID] } }],
      ['with content in its event', { claims: { events: { [LOGOUT_EVENT]: { why: 'x' } } } }],
      ['with further events', { claims: { events: { 'urn:x': 1, [LOGOUT_EVENT]: {} } } }],
      ['with claims that are not known', { claims: { 'urn:x': [{}], toe: 7 } }],
      ['without kid, where one key fits', { header: { kid: undefined } }],
      [
        'with keys in its header, which are not looked at',
        { header: { jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/' } },
      ],
    ])('%s', async (_, forgery) => {
      await accepted(forgery);
    });

    it.each<[string, (now: number) => Readonly<Record<string, number>>]>([
      ['issued a little ahead of our clock', (now) => ({ iat: now + 20 })],
      ['of nine minutes ago', (now) => ({ iat: now - 540 })],
      ['that ended within the tolerance', (now) => ({ exp: now - 10 })],
      ['with a far end', (now) => ({ exp: now + 86_400 })],
    ])('%s', async (_, claims) => {
      const { sub } = nextPerson();
      expectDone(await logout(service, { sub, ...claims(seconds()) }));
    });

    it('signed with ES256, where the IdP offers it for id_tokens', async () => {
      await accepted({ header: { alg: 'ES256', kid: 'e1' }, sign: es256(ec) });
    });
  });

  describe('2.6: refused, and ends nothing, is a logout token', () => {
    it.each<[string, Readonly<Record<string, unknown>>]>([
      ['of another issuer', { iss: 'https://other.example' }],
      ['without iss', { iss: undefined }],
      ['of an issuer list', { iss: ['https://other.example'] }],
      ['for another client', { aud: 'other-client' }],
      ['for other clients', { aud: ['other-client', 'cli-client'] }],
      ['without aud', { aud: undefined }],
      ['for an empty list of clients', { aud: [] }],
      ['of another client’s, as its azp says', { azp: 'other-client' }],
      ['without iat', { iat: undefined }],
      ['without exp', { exp: undefined }],
      ['with an exp of null', { exp: null }],
      ['with a negative exp', { exp: -1 }],
    ])('step 4: %s', async (_, claims) => {
      await refused({ claims });
    });

    it.each<[string, (now: number) => Readonly<Record<string, unknown>>]>([
      ['from the future', (now) => ({ iat: now + 3_600 })],
      ['of more than ten minutes ago', (now) => ({ iat: now - 640, exp: now + 600 })],
      ['with an iat in a text', (now) => ({ iat: String(now) })],
      ['that has ended', (now) => ({ exp: now - 60 })],
      ['with an exp in milliseconds', (now) => ({ exp: (now + 60) * 1_000 })],
      ['that begins later', (now) => ({ nbf: now + 3_600 })],
    ])('step 4: %s, by our clock', async (_, claims) => {
      await refused({ claims: claims(seconds()) });
    });

    it.each<[string, Readonly<Record<string, unknown>>]>([
      ['with neither sub nor sid', { sub: undefined, sid: undefined }],
      ['with a number for a sub', { sub: 7, sid: undefined }],
      ['with a number for a sid', { sub: undefined, sid: 7 }],
      ['with an empty sid beside a sub', { sid: '' }],
      ['with a sid list', { sid: [VICTIM.sid] }],
    ])('step 5: %s', async (_, claims) => {
      await refused({ claims });
    });

    it.each<[string, Readonly<Record<string, unknown>>]>([
      ['without events', { events: undefined }],
      ['with events that are a text', { events: LOGOUT_EVENT }],
      ['with events that are a list', { events: [LOGOUT_EVENT] }],
      ['with another event', { events: { 'urn:other': {} } }],
      ['with an event that is null', { events: { [LOGOUT_EVENT]: null } }],
      ['with an event that is a text', { events: { [LOGOUT_EVENT]: '' } }],
      ['with an event that is a list', { events: { [LOGOUT_EVENT]: [] } }],
    ])('step 6: %s', async (_, claims) => {
      await refused({ claims });
    });

    it.each<[string, Readonly<Record<string, unknown>>]>([
      ['with a nonce', { nonce: 'n' }],
      ['with a nonce of null', { nonce: null }],
    ])('step 7: %s', async (_, claims) => {
      await refused({ claims });
    });

    it.each<[string, Readonly<Record<string, unknown>>]>([
      ['without jti', { jti: undefined }],
      ['with an empty jti', { jti: '' }],
      ['with a number for a jti', { jti: 7 }],
      ['with a jti of 2 kB', { jti: 'j'.repeat(2_048) }],
    ])('2.4: %s', async (_, claims) => {
      await refused({ claims });
    });

    it('4.1: that says in a claim that it is a bearer token', async () => {
      await refused({ claims: { typ: 'Bearer' } });
    });

    it('step 1: encrypted, which was not agreed with the IdP', async () => {
      const token = await forgeLogoutToken(idp, { claims: VICTIM });
      // The key that both sides could derive: OIDC Core section 10.2.
      const key = createHash('sha256').update(WEB_CLIENT_SECRET).digest();
      const encrypted = await new CompactEncrypt(Buffer.from(token))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', cty: 'JWT', typ: 'logout+jwt' })
        .encrypt(key);
      expectInvalid(await sendLogoutToken(service.url, encrypted));
      expect(await askMe(service, victim)).toBe(200);
    });

    it.each(['at+jwt', 'secevent+jwt', 'dpop+jwt', 'logout', 'JOSE'])(
      '4.1: of the type %j',
      async (typ) => {
        await refused({ header: { typ } });
      },
    );

    it.each(['none', 'None', 'nOnE', ''])('step 3: with alg %j and no signature', async (alg) => {
      await refused({ header: { alg }, sign: fixedSignature(Buffer.alloc(0)) });
    });

    it.each<[string, LogoutForgery]>([
      ['alg none over a true signature', { header: { alg: 'none' } }],
      ['no alg', { header: { alg: undefined } }],
      ['alg PS256 over an RS256 signature', { header: { alg: 'PS256' } }],
      ['alg RS512, which is not offered', { header: { alg: 'RS512' } }],
      ['a signature of zeros', { sign: fixedSignature(Buffer.alloc(256)) }],
      ['a kid that is a number', { header: { kid: 1 } }],
      ['crit', { header: { crit: ['x'], x: 1 } }],
      ['an empty crit', { header: { crit: [] } }],
      ['b64 false', { header: { crit: ['b64'], b64: false } }],
      ['zip', { header: { zip: 'DEF' } }],
      ['enc, as an encrypted token has', { header: { enc: 'A256GCM' } }],
      ['a second sub', { rewrite: (json) => json.replace('{', '{"sub":"other",') }],
      ['a second iss', { rewrite: (json) => json.replace('{', '{"iss":"https://x.example",') }],
      ['an exp of 1e999', { rewrite: (json) => json.replace(/"exp":\d+/, '"exp":1e999') }],
      ['a payload that is no object', { rewrite: (json) => `[${json}]` }],
      ['a payload that is no JSON', { rewrite: (json) => `${json}}` }],
    ])('steps 2 and 3: with %s', async (_, forgery) => {
      await refused(forgery);
    });

    it.each<[string, string]>([
      ['a kid that is not known', 'k2'],
      ['a kid that is a path', '../../../etc/passwd'],
      ['the kid of a weak key', 'weak'],
    ])('steps 2 and 3: with %s, for now or for good', async (_, kid) => {
      await refusedForKey({ header: { kid } });
    });

    it('step 2: signed by another key under the IdP’s kid', async () => {
      await refused({ sign: rs256(attackersKey) });
      await refusedForKey({ sign: rs256(attackersKey), header: { kid: 'for-encryption' } });
      await refused({ sign: rs256(attackersKey), header: { jwk: await attackersJwk() } });
      // It may be of a key that is not known yet.
      await refusedForKey({ sign: rs256(attackersKey), header: { kid: undefined } });
    });

    it.each<[string, () => string]>([
      ['the public key', () => JSON.stringify(idp.publicJwk)],
      ['the modulus', () => idp.publicJwk.n ?? ''],
      ['the client secret', () => WEB_CLIENT_SECRET],
      ['nothing', () => ''],
    ])('step 3: with HS256 and %s as its secret', async (_, secret) => {
      for (const kid of ['k1', undefined])
        await refused({ header: { alg: 'HS256', kid }, sign: hs256(secret()) });
    });

    it.each<[string, (token: string) => string]>([
      ['with two parts', (token) => token.split('.', 2).join('.')],
      ['with five parts', (token) => `${token}.x.y`],
      ['with padding', (token) => `${token}=`],
      ['with a space after it', (token) => `${token}%20`],
      ['of 20 kB', (token) => token + 'A'.repeat(20_000)],
      ['that is empty', () => ''],
      ['that is a word', () => 'token'],
    ])('step 2: %s', async (_, change) => {
      const token = await forgeLogoutToken(idp, { claims: VICTIM });
      expectInvalid(await sendLogoutToken(service.url, change(token)));
      expect(await askMe(service, victim)).toBe(200);
    });
  });

  describe('2.5: the request', () => {
    const valid = async () => {
      const { sub, sid } = nextPerson();
      const browser = await signInAs(service, sub, sid);
      const token = await forgeLogoutToken(idp, { claims: { sub, sid } });
      return { token, isSignedIn: async () => (await askMe(service, browser)) === 200 };
    };

    it('may hold other parameters, which are ignored', async () => {
      const { token, isSignedIn } = await valid();
      expectDone(await postLogout(service.url, `a=1&a=2&logout_token=${token}&b=%00`));
      expect(await isSignedIn()).toBe(false);
    });

    it.each<[string, (token: string) => string, string]>([
      ['has two tokens', (token) => `logout_token=${token}&logout_token=${token}`, FORM],
      ['has a second, empty token', (token) => `logout_token=${token}&logout_token=`, FORM],
      ['has no token', (token) => `token=${token}`, FORM],
      ['has no body', () => '', FORM],
      ['is JSON', (token) => JSON.stringify({ logout_token: token }), 'application/json'],
      ['does not say what it is', (token) => `logout_token=${token}`, ''],
      ['is no form', (token) => `logout_token=${token}`, 'text/plain'],
      ['is over 64 KiB', (token) => `x=${'y'.repeat(65_536)}&logout_token=${token}`, FORM],
    ])('that %s is refused, and ends nothing', async (_, body, type) => {
      const { token, isSignedIn } = await valid();
      expectInvalid(await postLogout(service.url, body(token), { 'content-type': type }));
      expect(await isSignedIn()).toBe(true);
      // Nothing was used up.
      expectDone(await sendLogoutToken(service.url, token));
      expect(await isSignedIn()).toBe(false);
    });

    it('may come in chunks, which are not read beyond 64 KiB', async () => {
      const { token, isSignedIn } = await valid();
      const headers = { 'content-type': FORM, 'transfer-encoding': 'chunked' };
      const send = (body: string) =>
        exchange(service.url + LOGOUT_PATH, { method: 'POST', headers, body });
      expectInvalid(await send(`x=${'y'.repeat(1_000_000)}&logout_token=${token}`));
      expect(await isSignedIn()).toBe(true);
      expectDone(await send(`logout_token=${token}`));
      expect(await isSignedIn()).toBe(false);
    });

    it('is a POST: anything else is 405, and ends nothing', async () => {
      const { token, isSignedIn } = await valid();
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const url = `${service.url}${LOGOUT_PATH}?logout_token=${token}`;
        const answer = await exchange(url, { method });
        expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
        expect(answer.headers['cache-control']).toBe('no-store');
      }
      expect(await isSignedIn()).toBe(true);
    });

    it('holds the token in its body: one in the query is not seen', async () => {
      const { token, isSignedIn } = await valid();
      const url = `${service.url}${LOGOUT_PATH}?logout_token=${token}`;
      const headers = { 'content-type': FORM };
      expectInvalid(await exchange(url, { method: 'POST', headers, body: 'x=1' }));
      expect(await isSignedIn()).toBe(true);
    });

    it('needs no session, no bearer and no origin of ours', async () => {
      const { token, isSignedIn } = await valid();
      const headers = { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' };
      expectDone(await postLogout(service.url, `logout_token=${token}`, headers));
      expect(await isSignedIn()).toBe(false);
    });
  });

  describe('4.1: one kind of token is never taken for another', () => {
    it.each<[string, Readonly<Record<string, unknown>>, string]>([
      ['An id_token', { events: undefined, jti: undefined, nonce: 'n' }, 'JWT'],
      ['An id_token without nonce', { events: undefined }, 'JWT'],
      ['An access token', { events: undefined, scope: 'all', client_id: 'x' }, 'at+jwt'],
      ['An access token with an event', { scope: 'all', azp: 'other-client' }, 'JWT'],
    ])('%s is no logout token', async (_, claims, typ) => {
      await refused({ claims, header: { typ } });
    });

    it.each(['logout+jwt', 'JWT'])('A logout token of the type %s is no bearer', async (typ) => {
      const claims = { sub: 'ada', aud: [WEB_CLIENT_ID, service.url], scope: 'all' };
      const token = await forgeLogoutToken(idp, { claims, header: { typ } });
      for (const name of ['core-authorization', 'authorization']) {
        const headers = { [name]: `Bearer ${token}` };
        expect((await exchange(`${service.url}/me`, { headers })).status).toBe(401);
      }
    });

    it.each(['logout+jwt', 'JWT'])('A logout token of the type %s is no id_token', async (typ) => {
      const browser = new Browser();
      const received = await service.signIn(browser, '/', {
        forge: () => forgeLogoutToken(idp, { claims: { sub: 'ada' }, header: { typ } }),
      });
      expect(received.status).toBe(502);
      expect(beginsSession(received)).toBe(false);
      expect(await askMe(service, browser)).toBe(401);
    });
  });
});

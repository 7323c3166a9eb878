import { CompactEncrypt, importJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import {
  type Forge,
  fixedSignature,
  HONEST_HEADER,
  rs256,
  signed,
  writeJws,
  written,
} from '../wire/forge.ts';
import { type Service, startHostedService, WEB_CLIENT_ID } from '../wire/platform.ts';
import { beginsSession, expectAccepted, expectRefused } from '../wire/sign-in.ts';

/** The payload with a claim once more, behind the others. */
function twice(name: string, value: string): Forge {
  return written((json) => json.replace(/\}$/, `,"${name}":${value}}`));
}

function padded(bytes: number): Forge {
  return signed({ padding: 'x'.repeat(bytes) });
}

describe('An id_token signed by the IdP', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startHostedService();
  });
  afterAll(() => service.stop());

  const refused = (forge: Forge) => expectRefused(service, { forge });
  const accepted = (forge: Forge) => expectAccepted(service, { forge });

  describe('with a claim that is not right is refused', () => {
    it.each<[string, Forge]>([
      ['iss of another', signed({ iss: 'https://evil.example' })],
      ['iss with a slash more', signed(({ issuer }) => ({ iss: `${issuer}/` }))],
      ['iss in capitals', signed(({ issuer }) => ({ iss: issuer.toUpperCase() }))],
      ['iss missing', signed({ iss: undefined })],
      ['iss a list', signed(({ issuer }) => ({ iss: [issuer] }))],
      ['aud of another', signed({ aud: 'other-client' })],
      ['aud that begins with ours', signed({ aud: `${WEB_CLIENT_ID}-2` })],
      ['aud in capitals', signed({ aud: WEB_CLIENT_ID.toUpperCase() })],
      ['aud missing', signed({ aud: undefined })],
      ['aud an empty list', signed({ aud: [] })],
      ['aud a list of others', signed({ aud: ['a', 'b'] })],
      ['aud a list in a list', signed({ aud: [[WEB_CLIENT_ID]] })],
      ['aud with a foreign member, and no azp', signed({ aud: [WEB_CLIENT_ID, 'other-client'] })],
      [
        'aud with a foreign member, and its azp',
        signed({ aud: [WEB_CLIENT_ID, 'other'], azp: 'other' }),
      ],
      ['azp of another', signed({ azp: 'other-client' })],
      ['azp empty', signed({ azp: '' })],
      ['azp a list', signed({ azp: [WEB_CLIENT_ID] })],
      ['azp null', signed({ azp: null })],
      ['nonce of another', signed({ nonce: 'another' })],
      ['nonce missing', signed({ nonce: undefined })],
      ['nonce empty', signed({ nonce: '' })],
      ['nonce a list', signed(({ nonce }) => ({ nonce: [nonce] }))],
      ['sub missing', signed({ sub: undefined })],
      ['sub empty', signed({ sub: '' })],
      ['sub of 256 characters', signed({ sub: 'a'.repeat(256) })],
      ['sub a number', signed({ sub: 1 })],
      ['sub a list', signed({ sub: ['ada'] })],
      ['sub null', signed({ sub: null })],
      ['sub with a line break', signed({ sub: 'ada\r\nx-user-subject: root' })],
      ['sub with NUL', signed({ sub: 'ada\u0000' })],
      ['sub that is not ASCII', signed({ sub: 'àda' })],
    ])('%s', async (_, forge) => {
      await refused(forge);
    });

    it.each<[string, Forge]>([
      ['aud a list of ours alone', signed({ aud: [WEB_CLIENT_ID] })],
      [
        'aud with a foreign member, and our azp',
        signed({ aud: ['other', WEB_CLIENT_ID], azp: WEB_CLIENT_ID }),
      ],
      ['azp ours', signed({ azp: WEB_CLIENT_ID })],
    ])('but accepted: %s', async (_, forge) => {
      await accepted(forge);
    });

    it('but accepted: sub of 255 characters, which userinfo confirms', async () => {
      const sub = 'a'.repeat(255);
      const browser = new Browser();
      await service.signIn(browser, '/', { forge: signed({ sub }), userInfo: { sub } });
      const { headers, status } = await browser.step(`${service.url}/me`);
      expect([status, headers['x-user-subject']]).toEqual([200, sub]);
    });
  });

  describe('with a time that is not right is refused', () => {
    it.each<[string, Forge]>([
      ['exp a minute ago', signed(({ now }) => ({ exp: now - 60 }))],
      ['exp missing', signed({ exp: undefined })],
      ['exp null', signed({ exp: null })],
      ['exp a string', signed(({ now }) => ({ exp: String(now + 300) }))],
      ['exp a list', signed(({ now }) => ({ exp: [now + 300] }))],
      ['exp true', signed({ exp: true })],
      ['exp negative', signed({ exp: -1 })],
      ['exp zero', signed({ exp: 0 })],
      ['exp 1e300', written((json) => json.replace(/"exp":\d+/, '"exp":1e300'))],
      ['exp 1e400', written((json) => json.replace(/"exp":\d+/, '"exp":1e400'))],
      ['exp 2^63', written((json) => json.replace(/"exp":\d+/, '"exp":9223372036854775808'))],
      ['exp 1e-7', written((json) => json.replace(/"exp":\d+/, '"exp":1e-7'))],
      ['exp in milliseconds', signed(({ now }) => ({ exp: (now + 300) * 1_000 }))],
      ['nbf in two minutes', signed(({ now }) => ({ nbf: now + 120 }))],
      ['nbf a string', signed(({ now }) => ({ nbf: String(now) }))],
      ['iat in two minutes', signed(({ now }) => ({ iat: now + 120 }))],
      ['iat missing', signed({ iat: undefined })],
      ['iat a string', signed(({ now }) => ({ iat: String(now) }))],
      ['iat 1e300', written((json) => json.replace(/"iat":\d+/, '"iat":1e300'))],
      ['iat negative', signed({ iat: -1 })],
    ])('%s', async (_, forge) => {
      await refused(forge);
    });

    it.each<[string, Forge]>([
      ['exp a fraction of a second', signed(({ now }) => ({ exp: now + 300.5 }))],
      ['exp ten seconds ago, which a clock may be late', signed(({ now }) => ({ exp: now - 10 }))],
      ['nbf in ten seconds', signed(({ now }) => ({ nbf: now + 10 }))],
      ['iat in ten seconds', signed(({ now }) => ({ iat: now + 10 }))],
    ])('but accepted: %s', async (_, forge) => {
      await accepted(forge);
    });
  });

  describe('written oddly', () => {
    it.each<[string, (token: string) => string]>([
      ['with a fourth part', (token) => `${token}.e30`],
      ['with a dot more', (token) => `${token}.`],
      ['with a dot before', (token) => `.${token}`],
      ['with a space after', (token) => `${token} `],
      ['with a line break after', (token) => `${token}\n`],
      ['with a space before', (token) => ` ${token}`],
      ['with data after the signature', (token) => `${token}AAAA`],
      ['with a padded signature', (token) => `${token}==`],
      ['with a padded header', (token) => token.replace('.', '=.')],
      ['with a padded payload', (token) => token.replace(/\.(?=[^.]+$)/, '==.')],
      [
        'in the alphabet of base64',
        (token) => {
          const [header = '', payload = '', signature = ''] = token.split('.');
          const other = signature.replaceAll('-', '+').replaceAll('_', '/');
          return [header, payload, other === signature ? `${signature}+` : other].join('.');
        },
      ],
      [
        'with a line break in the signature',
        (token) => `${token.slice(0, -8)}\n${token.slice(-8)}`,
      ],
      ['twice, with a comma', (token) => `${token},${token}`],
      ['as text', () => 'id_token'],
      ['as three empty parts', () => '..'],
      ['empty', () => ''],
    ])('is refused: %s', async (_, change) => {
      await refused(async (forgery) => change(await signed({})(forgery)));
    });

    it.each<[string, string, string]>([
      ['header that is no JSON', '{', ''],
      ['header that is a list', '["RS256"]', ''],
      ['header that is null', 'null', ''],
      ['payload that is no JSON', '', '{'],
      ['payload that is a list', '', '[]'],
      ['payload that is null', '', 'null'],
      ['payload that is text', '', '"ada"'],
    ])('is refused: a %s', async (_, header, payload) => {
      await refused((forgery) =>
        writeJws(
          header === '' ? HONEST_HEADER : header,
          payload === '' ? forgery.claims : payload,
          rs256(forgery.signingKey),
        ),
      );
    });

    it('is refused: bytes after the JSON of the payload', async () => {
      await refused(written((json) => `${json}{}`));
      await refused(written((json) => `${json}\u0000`));
    });

    it('counts of a claim that stands twice the last one, as RFC 7519 section 4 has it', async () => {
      await refused(twice('nonce', '"another"'));
      await refused(twice('aud', '"other-client"'));
      await refused(twice('iss', '"https://evil.example"'));
      await refused(twice('exp', '1'));
      await refused((forgery) =>
        writeJws(
          '{"alg":"RS256","kid":"k1","alg":"none"}',
          forgery.claims,
          fixedSignature(Buffer.alloc(0)),
        ),
      );
      // The subject that was verified is the one that userinfo is held against.
      const browser = new Browser();
      const received = await service.signIn(browser, '/', { forge: twice('sub', '"root"') });
      expect(beginsSession(received)).toBe(false);
    });

    it('is refused: encrypted, with a signed one inside (JWE)', async () => {
      await refused(async (forgery) => {
        const inner = await signed({})(forgery);
        const key = await importJWK({ ...forgery.publicJwk, alg: 'RSA-OAEP-256' }, 'RSA-OAEP-256');
        return new CompactEncrypt(Buffer.from(inner))
          .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', cty: 'JWT', kid: 'k1' })
          .encrypt(key);
      });
    });

    it('is refused: a JWS in a JWS', async () => {
      await refused(async (forgery) => {
        const inner = await signed({})(forgery);
        return writeJws({ ...HONEST_HEADER, cty: 'JWT' }, inner, rs256(forgery.signingKey));
      });
    });

    it('is refused beyond 64 KiB, and accepted up to there', async () => {
      await accepted(padded(45_000));
      await refused(padded(50_000));
    });

    it('is refused: the honest one of another client of the same IdP', async () => {
      await refused(async (forgery) =>
        new SignJWT({ ...forgery.claims, aud: 'cli-client' })
          .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
          .sign(forgery.signingKey),
      );
    });
  });
});

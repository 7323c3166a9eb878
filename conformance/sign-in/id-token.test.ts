import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { type Forgery, startFakeIdp } from '@sallyport/testing/idp/fake-idp';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../wire/browser.ts';
import {
  es256,
  type Forge,
  fixedSignature,
  HONEST_HEADER,
  hs256,
  rs256,
  signed,
  writeJws,
} from '../wire/forge.ts';
import {
  type Service,
  startHostedService,
  WEB_CLIENT_ID,
  WEB_CLIENT_SECRET,
} from '../wire/platform.ts';
import { expectAccepted, expectRefused, expectSignsIn } from '../wire/sign-in.ts';

function pemOf({ publicJwk }: Forgery, type: 'spki' | 'pkcs1'): string {
  return createPublicKey({ key: publicJwk, format: 'jwk' }).export({ format: 'pem', type });
}

/** Says `alg`, and has no signature. */
function unsigned(alg: string): Forge {
  return (forgery) =>
    writeJws({ ...HONEST_HEADER, alg }, forgery.claims, fixedSignature(Buffer.alloc(0)));
}

describe('An id_token', () => {
  let service: Service;
  let ec: { publicJwk: JWK; privateKey: CryptoKey };
  let attackersKey: CryptoKey;
  let attackersJwk: JWK;
  let weakKey: KeyObject;

  beforeAll(async () => {
    const idp = await startFakeIdp(WEB_CLIENT_ID);
    const ecPair = await generateKeyPair('ES256', { extractable: true });
    ec = { publicJwk: await exportJWK(ecPair.publicKey), privateKey: ecPair.privateKey };
    const attackersPair = await generateKeyPair('RS256', { extractable: true });
    attackersKey = attackersPair.privateKey;
    attackersJwk = await exportJWK(attackersPair.publicKey);
    const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    weakKey = weak.privateKey;
    idp.keys = [
      { ...ec.publicJwk, kid: 'e1', alg: 'ES256', use: 'sig' },
      { ...(weak.publicKey.export({ format: 'jwk' }) as JWK), kid: 'weak', use: 'sig' },
      { ...attackersJwk, kid: 'for-encryption', use: 'enc' },
    ];
    // As careless as an IdP can be: whatever is offered here must still be refused.
    idp.metadata = {
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'HS256', 'none', 'None'],
    };
    service = await startHostedService({}, [], idp);
  });
  afterAll(() => service.stop());

  const refused = (forge: Forge) => expectRefused(service, { forge });
  const accepted = (forge: Forge) => expectAccepted(service, { forge });

  describe('signed as it should be', () => {
    it.each<[string, Forge]>([
      ['RS256', signed({})],
      [
        'ES256, where the metadata offers it',
        (forgery) => writeJws({ alg: 'ES256', kid: 'e1' }, forgery.claims, es256(ec.privateKey)),
      ],
      ['without typ', signed({}, { typ: undefined })],
      [
        'with a jwk of another key owner, which is ignored',
        (forgery) =>
          signed(
            {},
            { jwk: attackersJwk, jku: `${forgery.issuer}/evil`, x5u: 'http://x' },
          )(forgery),
      ],
    ])('is accepted: %s', async (_, forge) => {
      await accepted(forge);
    });
  });

  describe('without a signature that counts is refused', () => {
    it.each(['none', 'None', 'nOnE', 'NONE', '', ' none', 'none\u0000'])('alg %j', async (alg) => {
      await refused(unsigned(alg));
    });

    it.each<[string, Forge]>([
      ['alg none over a true signature', signed({}, { alg: 'none' })],
      ['no alg', signed({}, { alg: undefined })],
      ['alg null', signed({}, { alg: null })],
      ['alg a list', signed({}, { alg: ['RS256'] })],
      ['alg rs256 in small letters', signed({}, { alg: 'rs256' })],
      ['alg PS256 over an RS256 signature', signed({}, { alg: 'PS256' })],
      ['alg RS512 over an RS256 signature', signed({}, { alg: 'RS512' })],
      [
        'the signature left out',
        async (forgery) => `${(await signed({})(forgery)).split('.', 2).join('.')}.`,
      ],
      [
        'the signature and its dot left out',
        async (forgery) => (await signed({})(forgery)).split('.', 2).join('.'),
      ],
      [
        'a signature of zeros',
        (forgery) => writeJws(HONEST_HEADER, forgery.claims, fixedSignature(Buffer.alloc(256))),
      ],
      [
        'a signature of one byte',
        (forgery) => writeJws(HONEST_HEADER, forgery.claims, fixedSignature(Buffer.alloc(1))),
      ],
      [
        'the signature of other claims',
        async (forgery) => {
          const [header, , signature] = (await signed({})(forgery)).split('.');
          const [, payload] = (await signed({ sub: 'root' })(forgery)).split('.');
          return `${header}.${payload}.${signature}`;
        },
      ],
      [
        'another key under the same kid',
        (forgery) => writeJws(HONEST_HEADER, forgery.claims, rs256(attackersKey)),
      ],
      [
        'a key published for encryption',
        (forgery) =>
          writeJws(
            { ...HONEST_HEADER, kid: 'for-encryption' },
            forgery.claims,
            rs256(attackersKey),
          ),
      ],
      [
        'a published RSA key of 1024 bits',
        (forgery) =>
          writeJws({ ...HONEST_HEADER, kid: 'weak' }, forgery.claims, (input) =>
            sign('sha256', Buffer.from(input), weakKey),
          ),
      ],
    ])('%s', async (_, forge) => {
      await refused(forge);
    });

    it.each<[string, (forgery: Forgery) => string | Buffer]>([
      ['the public key as PEM (SPKI)', (forgery) => pemOf(forgery, 'spki')],
      [
        'the public key as PEM (SPKI) without its last newline',
        (forgery) => pemOf(forgery, 'spki').trim(),
      ],
      ['the public key as PEM (PKCS#1)', (forgery) => pemOf(forgery, 'pkcs1')],
      ['the public key as JWK', ({ publicJwk }) => JSON.stringify(publicJwk)],
      ['the modulus of the public key, encoded', ({ publicJwk }) => publicJwk.n ?? ''],
      [
        'the modulus of the public key',
        ({ publicJwk }) => Buffer.from(publicJwk.n ?? '', 'base64url'),
      ],
      ['the client secret', () => WEB_CLIENT_SECRET],
      ['nothing', () => Buffer.alloc(0)],
    ])('HS256 with %s as its secret', async (_, secret) => {
      for (const kid of ['k1', undefined]) {
        await refused((forgery) =>
          writeJws({ alg: 'HS256', kid, typ: 'JWT' }, forgery.claims, hs256(secret(forgery))),
        );
      }
    });

    it.each<[string, Forge]>([
      [
        'r = s = 0',
        (forgery) =>
          writeJws({ alg: 'ES256', kid: 'e1' }, forgery.claims, fixedSignature(Buffer.alloc(64))),
      ],
      [
        'an empty one',
        (forgery) =>
          writeJws({ alg: 'ES256', kid: 'e1' }, forgery.claims, fixedSignature(Buffer.alloc(0))),
      ],
      [
        'r = s = the order of the curve',
        (forgery) => {
          const order = 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551';
          return writeJws(
            { alg: 'ES256', kid: 'e1' },
            forgery.claims,
            fixedSignature(Buffer.from(order + order, 'hex')),
          );
        },
      ],
      [
        'another EC key under the same kid',
        async (forgery) => {
          const { privateKey } = await generateKeyPair('ES256');
          return writeJws({ alg: 'ES256', kid: 'e1' }, forgery.claims, es256(privateKey));
        },
      ],
      [
        'the EC key under the kid of the RSA key',
        (forgery) => writeJws({ alg: 'ES256', kid: 'k1' }, forgery.claims, es256(ec.privateKey)),
      ],
      ['alg RS256 under the kid of the EC key', signed({}, { kid: 'e1' })],
      [
        'alg ES384 with a P-256 key',
        (forgery) => writeJws({ alg: 'ES384', kid: 'e1' }, forgery.claims, es256(ec.privateKey)),
      ],
    ])('ES256 with %s', async (_, forge) => {
      await refused(forge);
    });
  });

  describe('that brings its own key is refused, and nothing is fetched for it', () => {
    it.each<[string, (forgery: Forgery) => Readonly<Record<string, unknown>>]>([
      ['jwk', () => ({ jwk: attackersJwk })],
      ['jwk without kid', () => ({ jwk: attackersJwk, kid: undefined })],
      ['jku', ({ issuer }) => ({ jku: `${issuer}/evil-keys`, kid: 'evil' })],
      ['x5u', ({ issuer }) => ({ x5u: `${issuer}/evil-keys` })],
      ['x5c', () => ({ x5c: [Buffer.from('certificate').toString('base64')] })],
      ['kid as a URL', ({ issuer }) => ({ kid: `${issuer}/evil-keys` })],
    ])('%s', async (_, header) => {
      await refused((forgery) =>
        writeJws({ ...HONEST_HEADER, ...header(forgery) }, forgery.claims, rs256(attackersKey)),
      );
      expect(service.idp.requests.map(({ path }) => path)).not.toContain('/evil-keys');
    });
  });

  describe('with a kid that is not known is refused', () => {
    it.each<[string, unknown]>([
      ['another name', 'k2'],
      ['in capitals', 'K1'],
      ['a path', '../../../../etc/passwd'],
      ['a device', '/dev/null'],
      ['SQL', "k1' UNION SELECT 'x' --"],
      ['10 kB', 'k'.repeat(10_240)],
      ['a number', 1],
      ['a list', ['k1']],
      ['an object', { toString: 'k1' }],
      ['null', null],
      ['true', true],
      ['empty', ''],
      ['__proto__', '__proto__'],
      ['with NUL', 'k1\u0000'],
    ])('%s', async (_, kid) => {
      await refused(signed({}, { kid }));
    });

    it('and twenty of them at once cause at most five more fetches of the key set', async () => {
      await expectSignsIn(service, new Browser());
      const before = service.idp.counts.jwks;
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const forge = signed({}, { kid: `flood-${index}` });
          return (await service.signIn(new Browser(), '/', { forge })).status;
        }),
      );
      expect(new Set(statuses)).toEqual(new Set([502]));
      expect(service.idp.counts.jwks - before).toBeLessThanOrEqual(5);
    });
  });

  describe('with header parameters that change its meaning is refused', () => {
    it.each<[string, Readonly<Record<string, unknown>>]>([
      ['crit that names something unknown', { crit: ['exp-in-header'], 'exp-in-header': 1 }],
      ['crit that is empty', { crit: [] }],
      ['crit that is no list', { crit: 'b64' }],
      ['crit that names what is not there', { crit: ['x'] }],
      ['b64 false, named in crit', { b64: false, crit: ['b64'] }],
    ])('%s', async (_, header) => {
      await refused(signed({}, header));
    });

    it('b64 false, signed over the payload as it is (RFC 7797)', async () => {
      await refused(async (forgery) => {
        const header = { ...HONEST_HEADER, b64: false, crit: ['b64'] };
        const token = await writeJws(header, forgery.claims, async (input) => {
          const [head = '', payload = ''] = input.split('.');
          return rs256(forgery.signingKey)(
            `${head}.${Buffer.from(payload, 'base64url').toString()}`,
          );
        });
        return token;
      });
    });
  });
});

import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClientKey } from './client-key.ts';

const RSA = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
const PSS = generateKeyPairSync('rsa-pss', { modulusLength: 2_048 }).privateKey;
const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const ED = generateKeyPairSync('ed25519').privateKey;

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' });
const jwk = (key: KeyObject, more: object = {}): string =>
  JSON.stringify({ ...key.export({ format: 'jwk' }), ...more });

function parseGood(text: string) {
  const parsed = parseClientKey(text);
  if (!parsed.ok) throw new Error(parsed.error.found);
  return parsed.value;
}

function foundIn(text: string): string {
  const parsed = parseClientKey(text);
  return parsed.ok ? 'nothing wrong' : parsed.error.found;
}

/** Whether what the key signs is verified by what is published of it, as a verifier reads `alg`. */
async function isItsOwn(text: string): Promise<boolean> {
  const { signingKey, publicKey } = parseGood(text);
  const data = Buffer.from('assertion');
  const { name } = signingKey.algorithm;
  const parameters = { name, saltLength: 32, hash: 'SHA-256' };
  const signature = await crypto.subtle.sign(parameters, signingKey, data);
  const key = createPublicKey({ key: publicKey, format: 'jwk' });
  const options = {
    key,
    ...(publicKey.alg === 'PS256' ? { padding: 6, saltLength: 32 } : {}),
    dsaEncoding: 'ieee-p1363',
  } as const;
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  return verify(digest, data, options, Buffer.from(signature));
}

describe('a private key of the web app', () => {
  it.each([
    ['RSA in PEM', pem(RSA), 'RS256'],
    ['RSASSA-PSS in PEM', pem(PSS), 'PS256'],
    ['P-256 in PEM', pem(EC), 'ES256'],
    ['Ed25519 in PEM', pem(ED), 'EdDSA'],
    ['PEM without a newline at its end', pem(EC).trim(), 'ES256'],
    ['PEM with Windows line ends', pem(EC).replaceAll('\n', '\r\n'), 'ES256'],
    ['RSA in a JWK', jwk(RSA), 'RS256'],
    ['RSA in a JWK that says PS256', jwk(RSA, { alg: 'PS256' }), 'PS256'],
    ['P-256 in a JWK', jwk(EC, { use: 'sig' }), 'ES256'],
    ['Ed25519 in a JWK', jwk(ED, { alg: 'EdDSA' }), 'EdDSA'],
    ['Ed25519 in a JWK, by its newer name', jwk(ED, { alg: 'Ed25519' }), 'Ed25519'],
  ])('%s signs, and its published half verifies it', async (_, text, algorithm) => {
    const { publicKey, signingKey } = parseGood(text);
    expect([parseGood(text).algorithm, publicKey.alg, publicKey.use]).toEqual([
      algorithm,
      algorithm,
      'sig',
    ]);
    expect(signingKey.extractable).toBe(false);
    expect(await isItsOwn(text)).toBe(true);
  });

  it.each([
    ['RSA', jwk(RSA), ['alg', 'e', 'kid', 'kty', 'n', 'use']],
    ['RSASSA-PSS', pem(PSS), ['alg', 'e', 'kid', 'kty', 'n', 'use']],
    ['P-256', jwk(EC), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']],
    ['Ed25519', jwk(ED), ['alg', 'crv', 'kid', 'kty', 'use', 'x']],
  ])('%s: nothing but public members is published', (_, text, members) => {
    expect(Object.keys(parseGood(text).publicKey).toSorted()).toEqual(members);
  });

  it('of a set is the first, and all of the set are published', async () => {
    const text = `{"keys":[${jwk(EC, { kid: 'now' })},${jwk(RSA, { kid: 'next' })}]}`;
    const { algorithm, publicKey, published } = parseGood(text);
    expect([algorithm, publicKey.kid]).toEqual(['ES256', 'now']);
    expect(published.map(({ kid, alg }) => [kid, alg])).toEqual([
      ['now', 'ES256'],
      ['next', 'RS256'],
    ]);
    expect(await isItsOwn(text)).toBe(true);
    expect(JSON.stringify(published)).not.toContain(EC.export({ format: 'jwk' }).d);
    expect(published.flatMap((key) => Object.keys(key))).not.toContain('d');
  });

  it('has the key ID of its JWK', () => {
    expect(parseGood(jwk(EC, { kid: '2026-07' })).publicKey.kid).toBe('2026-07');
  });

  it('has its thumbprint as key ID when it names none', () => {
    const { kid } = parseGood(pem(EC)).publicKey;
    expect(kid).toMatch(/^[\w-]{43}$/);
    expect(parseGood(jwk(EC)).publicKey.kid).toBe(kid);
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    expect(parseGood(pem(other)).publicKey.kid).not.toBe(kid);
  });

  it('RFC 8037 appendix A.3: the thumbprint of the key of appendix A.1', () => {
    const { publicKey } = parseGood(
      '{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}',
    );
    expect(publicKey.kid).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  });

  const small = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey;
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
  const bitcoin = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey;
  const sha512 = generateKeyPairSync('rsa-pss', {
    modulusLength: 2_048,
    hashAlgorithm: 'sha512',
    mgf1HashAlgorithm: 'sha512',
  }).privateKey;
  it.each([
    ['RSA of 1024 bits in PEM', pem(small), 'an RSA key of 1024 bits'],
    ['RSA of 1024 bits in a JWK', jwk(small), 'an RSA key of 1024 bits'],
    ['P-384', pem(curve), 'a key on the curve secp384r1'],
    ['secp256k1', pem(bitcoin), 'a key on the curve secp256k1'],
    ['RSASSA-PSS for SHA-512', pem(sha512), 'an RSASSA-PSS key for sha512'],
    ['X25519', pem(generateKeyPairSync('x25519').privateKey), 'a key of the type x25519'],
    ['Ed448', pem(generateKeyPairSync('ed448').privateKey), 'a key of the type ed448'],
    ['a public key', createPublicKey(EC).export({ type: 'spki', format: 'pem' }), 'a public key'],
    [
      'a public JWK',
      JSON.stringify(createPublicKey(EC).export({ format: 'jwk' })),
      'no private key',
    ],
    [
      'an encrypted key',
      EC.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }),
      'an encrypted key',
    ],
    ['PKCS#1', RSA.export({ type: 'pkcs1', format: 'pem' }), 'a private key that is not in PKCS#8'],
    ['SEC 1', EC.export({ type: 'sec1', format: 'pem' }), 'a private key that is not in PKCS#8'],
    ['two keys', pem(EC) + pem(RSA), 'something else'],
    ['an empty set', '{"keys":[]}', 'a set without keys'],
    ['a set that is none', '{"keys":{}}', 'a set without keys'],
    ['a set of names', '{"keys":["canary"]}', 'no JWK'],
    [
      'a set with a symmetric key',
      `{"keys":[${jwk(EC)},{"kty":"oct"}]}`,
      'a secret that both sides know',
    ],
    ['a set with a weak key', `{"keys":[${jwk(EC)},${jwk(small)}]}`, 'an RSA key of 1024 bits'],
    [
      'a set with one kid for two keys',
      `{"keys":[${jwk(EC, { kid: 'a' })},${jwk(RSA, { kid: 'a' })}]}`,
      'two keys with the same kid',
    ],
    ['a symmetric JWK', '{"kty":"oct","k":"c2VjcmV0"}', 'a secret that both sides know'],
    ['a JWK for another algorithm', jwk(RSA, { alg: 'RS512' }), 'another alg'],
    ['a JWK for the algorithm of another type', jwk(EC, { alg: 'RS256' }), 'another alg'],
    ['a JWK for encryption', jwk(EC, { use: 'enc' }), 'another use'],
    ['a JWK with a number for kid', jwk(EC, { kid: 7 }), 'an unusable kid'],
    ['a JWK with an empty kid', jwk(EC, { kid: '' }), 'an unusable kid'],
    ['a JWK with a line break in kid', jwk(EC, { kid: 'a\nb' }), 'an unusable kid'],
    [
      'halves of two keys',
      jwk(EC, {
        d: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
          .d,
      }),
      'a private key that cannot be read',
    ],
    ['a JWK cut short', jwk(EC).slice(0, -3), 'JSON that cannot be read'],
    [
      'PEM cut short',
      pem(EC).replace(/.{20}\n-----END/, '\n-----END'),
      'a private key that cannot be read',
    ],
    ['a client secret', 'canary-client-secret', 'something else'],
  ])('is refused as %s', (_, text, found) => {
    expect(foundIn(text)).toBe(found);
  });

  it('never comes out in what is said of it', () => {
    const canary = EC.export({ format: 'jwk' }).d ?? '';
    for (const text of [jwk(EC, { kid: 7 }), jwk(EC).slice(0, -3), jwk(EC, { alg: canary })]) {
      const parsed = parseClientKey(text);
      expect(parsed.ok).toBe(false);
      expect(JSON.stringify(parsed)).not.toContain(canary);
    }
  });

  it('is read from any text without a throw, and only from a key', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .dictionary(fc.constantFrom('kty', 'd', 'x', 'n', 'crv', 'keys', 'alg'), fc.string())
        .map((jwkLike) => JSON.stringify(jwkLike)),
      fc
        .base64String()
        .map((body) => `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseClientKey(text).ok).toBe(false);
      }),
    );
  });
});

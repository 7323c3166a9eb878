import { constants, createHmac, sign } from 'node:crypto';
import { createSigningKey, signInput } from '@sallyport/testing/idp/forge';
import { describe, expect, it } from 'vitest';
import { fitsAlgorithm, verifySignature } from './signature.ts';

const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
const KEYS = new Map(ALGORITHMS.map((alg) => [alg, createSigningKey(alg)]));

function keyOf(alg: string) {
  const key = KEYS.get(alg);
  if (key === undefined) throw new Error(alg);
  return key;
}

describe.each(ALGORITHMS)('%s', (alg) => {
  const key = keyOf(alg);
  const signature = signInput('header.payload', key);

  it('verifies what its key signed', () => {
    expect(verifySignature(alg, key.publicKey, 'header.payload', signature)).toBe(true);
  });

  it('does not verify another text, another signature or another key', () => {
    const other = createSigningKey(alg);
    expect(verifySignature(alg, key.publicKey, 'header.payloae', signature)).toBe(false);
    expect(verifySignature(alg, other.publicKey, 'header.payload', signature)).toBe(false);
    const changed = Buffer.from(signature);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    expect(verifySignature(alg, key.publicKey, 'header.payload', changed)).toBe(false);
    for (const wrong of [Buffer.alloc(0), Buffer.alloc(signature.length), signature.subarray(1)])
      expect(verifySignature(alg, key.publicKey, 'header.payload', wrong)).toBe(false);
  });

  it('does not verify what its key signed under another name', () => {
    const others = ALGORITHMS.filter(
      (other) => other !== alg && fitsAlgorithm(key.publicKey, other) && !alg.startsWith('Ed'),
    );
    for (const other of others) {
      const signed = signInput('header.payload', { ...key, alg: other });
      expect(verifySignature(other, key.publicKey, 'header.payload', signed)).toBe(true);
      expect(verifySignature(alg, key.publicKey, 'header.payload', signed)).toBe(false);
    }
  });

  it('does not verify with a key of another type', () => {
    for (const [other, { publicKey }] of KEYS) {
      if (fitsAlgorithm(publicKey, alg)) continue;
      expect(verifySignature(alg, publicKey, 'header.payload', signature), other).toBe(false);
    }
  });
});

describe('RSASSA-PSS', () => {
  it.each([
    ['PS256', 'sha256', 32],
    ['PS384', 'sha384', 48],
    ['PS512', 'sha512', 64],
  ] as const)(
    'RFC 7518 section 3.5: the salt of %s is as long as its digest, and no other',
    (alg, digest, length) => {
      const { publicKey, privateKey } = keyOf(alg);
      const signed = (saltLength: number) =>
        sign(digest, Buffer.from('x'), {
          key: privateKey,
          padding: constants.RSA_PKCS1_PSS_PADDING,
          saltLength,
        });
      expect(verifySignature(alg, publicKey, 'x', signed(length))).toBe(true);
      for (const other of [0, length - 12, length + 1])
        expect(verifySignature(alg, publicKey, 'x', signed(other))).toBe(false);
    },
  );
});

describe('ECDSA', () => {
  it('CVE-2022-21449: a signature of zeros verifies nothing', () => {
    for (const alg of ['ES256', 'ES384', 'ES512'])
      for (const length of [64, 96, 132])
        expect(verifySignature(alg, keyOf(alg).publicKey, 'x', Buffer.alloc(length))).toBe(false);
  });

  it('RFC 7518 section 3.4: an algorithm has one curve', () => {
    expect(fitsAlgorithm(keyOf('ES256').publicKey, 'ES256')).toBe(true);
    expect(fitsAlgorithm(keyOf('ES384').publicKey, 'ES256')).toBe(false);
    expect(fitsAlgorithm(keyOf('ES256').publicKey, 'ES512')).toBe(false);
  });
});

describe('an algorithm that is none of ours', () => {
  it.each(['none', 'None', 'NONE', '', 'HS256', 'HS512', 'RS1', 'rs256', 'toString', '__proto__'])(
    'RFC 8725 section 3.1: %j verifies nothing, with any key',
    (alg) => {
      for (const { publicKey } of KEYS.values()) {
        expect(fitsAlgorithm(publicKey, alg)).toBe(false);
        expect(verifySignature(alg, publicKey, 'x', Buffer.alloc(0))).toBe(false);
        const pem = publicKey.export({ type: 'spki', format: 'pem' });
        const mac = createHmac('sha256', pem).update('x').digest();
        expect(verifySignature(alg, publicKey, 'x', mac)).toBe(false);
      }
    },
  );
});

describe('RFC 8017 section 8.1.2: a signature of PSS', () => {
  it('that begins with a zero does not verify without it', () => {
    const key = keyOf('PS256');
    let signature = signInput('header.payload', key);
    // The salt is new each time: one in 256 begins with a zero.
    while (signature[0] !== 0) signature = signInput('header.payload', key);
    expect(verifySignature('PS256', key.publicKey, 'header.payload', signature)).toBe(true);
    expect(verifySignature('PS256', key.publicKey, 'header.payload', signature.subarray(1))).toBe(
      false,
    );
  });
});

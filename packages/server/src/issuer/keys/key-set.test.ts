import { generateKeyPairSync } from 'node:crypto';
import { createSigningKey } from '@sallyport/testing/idp/forge';
import { describe, expect, it } from 'vitest';
import { type KeySet, parseKeySet } from './key-set.ts';

const RSA = createSigningKey('RS256', 'rsa');
const EC = createSigningKey('ES256', 'ec');

function parse(...keys: readonly unknown[]): KeySet {
  const parsed = parseKeySet(JSON.stringify({ keys }));
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

const without = (jwk: object, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(jwk).filter(([name]) => !names.includes(name)));

describe('selecting a key', () => {
  it('gives the one of that id that fits the algorithm', () => {
    const set = parse(RSA.jwk, EC.jwk);
    expect(set.select('rsa', 'RS256')).toHaveLength(1);
    expect(set.select('rsa', 'RS256')[0]?.equals(RSA.publicKey)).toBe(true);
    expect(set.select('ec', 'ES256')[0]?.equals(EC.publicKey)).toBe(true);
  });

  it.each([
    ['another id', 'other', 'RS256'],
    ['an algorithm of another type of key', 'rsa', 'ES256'],
    ['an algorithm the key is not for', 'rsa', 'PS256'],
    ['no algorithm of ours', 'rsa', 'HS256'],
    ['a path as id', '../rsa', 'RS256'],
    ['a query as id', "rsa' OR '1'='1", 'RS256'],
    ['a name of every object', 'constructor', 'RS256'],
  ])('gives none for %s', (_, kid, alg) => {
    expect(parse(RSA.jwk, EC.jwk).select(kid, alg)).toEqual([]);
  });

  it('without an id gives each that fits', () => {
    const other = createSigningKey('RS256', 'other');
    expect(parse(RSA.jwk, EC.jwk, other.jwk).select(undefined, 'RS256')).toHaveLength(2);
  });

  it('that does not say its algorithm may be of any that fits', () => {
    const set = parse(without(RSA.jwk, 'alg', 'use'));
    expect(set.select('rsa', 'PS512')).toHaveLength(1);
    expect(set.select('rsa', 'ES256')).toEqual([]);
  });

  it('whose id stands there twice gives both, so that either may have signed', () => {
    const other = createSigningKey('RS256', 'rsa');
    const keys = parse(RSA.jwk, other.jwk).select('rsa', 'RS256');
    expect(keys.map((key) => [key.equals(RSA.publicKey), key.equals(other.publicKey)])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it('gives four at most, so that one token does not cost a hundred verifications', () => {
    const keys = Array.from({ length: 10 }, () => RSA.jwk);
    expect(parse(...keys).select('rsa', 'RS256')).toHaveLength(4);
  });
});

describe('an entry', () => {
  const small = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey;
  const privateJwk = RSA.privateKey.export({ format: 'jwk' });

  it.each([
    ['RSA of 1,024 bits', { ...small.export({ format: 'jwk' }), kid: 'k' }],
    ['RSA of 8,200 bits', { ...RSA.jwk, n: Buffer.alloc(1_025, 0xff).toString('base64url') }],
    ['RSA with exponent 1', { ...RSA.jwk, e: 'AQ' }],
    ['RSA with exponent 0', { ...RSA.jwk, e: 'AA' }],
    ['RSA with an even exponent', { ...RSA.jwk, e: 'AQAA' }],
    ['RSA with an exponent of 72 bits', { ...RSA.jwk, e: 'AQAAAAAAAAAB' }],
    ['RSA without a modulus', without(RSA.jwk, 'n')],
    ['a private key', { ...privateJwk, kid: 'k' }],
    ['a symmetric key', { kty: 'oct', k: 'c2VjcmV0', kid: 'k' }],
    ['a key for encryption', { ...RSA.jwk, use: 'enc' }],
    ['a key that may not verify', { ...RSA.jwk, key_ops: ['encrypt'] }],
    ['operations that are no list', { ...RSA.jwk, key_ops: 'verify' }],
    ['an id that is no text', { ...RSA.jwk, kid: 7 }],
    ['an algorithm that is no text', { ...RSA.jwk, alg: ['RS256'] }],
    ['an unknown type', { kty: 'XYZ', kid: 'k' }],
    ['an unknown curve', { ...EC.jwk, crv: 'P-999' }],
    ['a point that is not on the curve', { ...EC.jwk, y: EC.jwk['x'] }],
    ['null', null],
    ['a text', 'key'],
    ['a list', [RSA.jwk]],
  ])('that is %s is left out, and the others stand', (_, entry) => {
    const set = parse(entry, EC.jwk);
    expect(set.ignored).toBe(1);
    expect(set.fingerprints.size).toBe(1);
    expect(set.select('ec', 'ES256')).toHaveLength(1);
  });

  it('RFC 7517 section 4.3: that may verify stands', () => {
    expect(parse({ ...RSA.jwk, key_ops: ['verify'] }).ignored).toBe(0);
  });

  it('with exponent 3 stands, the smallest that is taken', () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048, publicExponent: 3 });
    expect(parse({ ...publicKey.export({ format: 'jwk' }), kid: 'k' }).ignored).toBe(0);
  });
});

describe('a document', () => {
  it('without keys is taken at its word', () => {
    expect(parse().fingerprints.size).toBe(0);
    expect(parse().select(undefined, 'RS256')).toEqual([]);
  });

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"keys":{}}',
    '{"keys":null}',
    '<html>',
    '{"keys":[],"keys":[]}',
  ])('that is none is refused: %s', (text) => {
    expect(parseKeySet(text)).toEqual({ ok: false, error: 'not_a_key_set' });
  });

  it('of more than 100 keys is refused, of 100 taken', () => {
    const keys = (count: number) => JSON.stringify({ keys: Array(count).fill(EC.jwk) });
    expect(parseKeySet(keys(100)).ok).toBe(true);
    expect(parseKeySet(keys(101))).toEqual({ ok: false, error: 'too_many_keys' });
    expect(parseKeySet(keys(10_000))).toEqual({ ok: false, error: 'too_many_keys' });
  });

  it('shows by fingerprints which key is another one', () => {
    const [first] = parse(RSA.jwk).fingerprints;
    expect([...parse(RSA.jwk, EC.jwk).fingerprints]).toContain(first);
    const sameId = createSigningKey('RS256', 'rsa');
    expect([...parse(sameId.jwk).fingerprints]).not.toContain(first);
    expect([...parse({ ...RSA.jwk, kid: 'renamed' }).fingerprints]).not.toContain(first);
  });
});

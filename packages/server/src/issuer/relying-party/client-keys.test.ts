import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createClientKeysEndpoint } from '../../sign-in/client-keys-endpoint.ts';
import { type ClientKey, parseClientKey } from './client-key.ts';
import { createClientKeys } from './client-keys.ts';

function makeKey(kid: string): ClientKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  const parsed = parseClientKey(JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid }));
  if (!parsed.ok) throw new Error(parsed.error.found);
  return parsed.value;
}

const ONE = makeKey('one');
const TWO = makeKey('two');
const THREE = makeKey('three');

function setup() {
  const file = { key: ONE };
  const clock = { now: 1_000_000 };
  const keys = createClientKeys(
    () => file.key,
    () => clock.now,
  );
  const published = (): readonly string[] => keys.published().map(({ kid }) => kid);
  return { file, clock, keys, published };
}

describe('the keys of the web app', () => {
  it('are the one of the file, and nothing else', () => {
    const { keys, published } = setup();
    expect(keys.current()).toBe(ONE);
    expect(published()).toEqual(['one']);
  });

  it('keep the replaced one published for as long as an answer may be kept, and no longer', () => {
    const { file, clock, keys, published } = setup();
    file.key = TWO;
    expect(keys.current()).toBe(TWO);
    clock.now += 299_999;
    expect(published()).toEqual(['two', 'one']);
    clock.now += 1;
    expect(published()).toEqual(['two']);
  });

  it('keep every one of several that were replaced shortly after each other', () => {
    const { file, clock, keys, published } = setup();
    file.key = TWO;
    keys.current();
    clock.now += 200_000;
    file.key = THREE;
    expect(published()).toEqual(['three', 'one', 'two']);
    clock.now += 100_000;
    expect(published()).toEqual(['three', 'two']);
  });

  it('publish one key for a key ID, the present one, also when the former comes back', () => {
    const { file, published } = setup();
    file.key = TWO;
    expect(published()).toEqual(['two', 'one']);
    file.key = ONE;
    expect(published()).toEqual(['one', 'two']);
  });

  it('are published as a key set that may be kept for five minutes', async () => {
    const { keys } = setup();
    const response = createClientKeysEndpoint(keys)();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/jwk-set+json');
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const text = await response.text();
    expect(JSON.parse(text)).toEqual({ keys: [ONE.publicKey] });
    expect(text).not.toContain('"d"');
  });
});

import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeSecretManifest, type SecretData } from './secret-store.ts';
import { withoutSecrets } from './without-secrets.ts';

const KEY = randomBytes(32).toString('base64url');
const RING = `{"keys":[{"kid":"2026","k":"${KEY}"}]}\n`;
const DATA: SecretData = new Map([
  ['key-ring.json', Buffer.from(RING)],
  ['passphrase', Buffer.from('correct horse')],
]);
const MANIFEST = makeSecretManifest('ring', 'cloud-cp', DATA);
const ENCODED = Buffer.from(RING).toString('base64');
const DENIED = 'admission webhook "policy.example.com" denied the request: found';
const NOT_SHOWN = 'its message is not shown, because it may quote the Secret';

function expectNoSecret(text: string): void {
  for (const secret of [KEY, ENCODED, ENCODED.slice(0, 40), 'correct horse'])
    expect(text).not.toContain(secret);
}

describe('The words about a Secret that was not written', () => {
  it.each([
    ['its value in base64', ENCODED],
    ['its value', RING],
    ['its value without the end of its line', RING.trim()],
    ['its value as a JSON string', JSON.stringify(RING)],
    ['a short value', 'correct horse'],
    ['a short value in base64', Buffer.from('correct horse').toString('base64')],
  ])('are shown without %s', (_, quoted) => {
    const shown = withoutSecrets(`${DENIED} ${quoted} instead`, MANIFEST);
    expect(shown).toMatch(/^admission webhook "policy.example.com" denied .*\[secret\].* instead$/);
    expectNoSecret(shown);
  });

  it.each([
    ['a part of a value in base64', ENCODED.slice(3, 40)],
    ['the key alone', KEY],
    ['bytes as Go prints them', `[${Array.from(Buffer.from(RING)).join(' ')}]`],
    ['bytes in hexadecimal', Buffer.from(RING).toString('hex')],
    ['another value, such as the one before', randomBytes(32).toString('base64')],
  ])('are not shown with %s', (_, quoted) => {
    expect(withoutSecrets(`${DENIED} ${quoted}`, MANIFEST)).toBe(NOT_SHOWN);
  });

  it.each([
    'secrets "sallyport-session-keys-of-cloud-cp" is forbidden: User "system:serviceaccount:cloud-cp:sallyport-create-keys" cannot create resource "secrets" in API group "" in the namespace "cloud-cp"',
    'Unable to connect to the server: dial tcp 10.0.0.1:443: connect: connection refused',
    'Secret "ring" is invalid: data: Forbidden: field is immutable when `immutable` is set',
  ])('are shown as they are where they quote nothing: %s', (said) => {
    expect(withoutSecrets(said, MANIFEST)).toBe(said);
  });

  it('are shown as they are where nothing was sent', () => {
    expect(withoutSecrets(`found ${ENCODED}`, undefined)).toBe(`found ${ENCODED}`);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { API_KEY_VARIABLE, findApiKeySecret } from './api-key-secret.ts';

describe('Secret of the API key', () => {
  it.each([
    ['EAGER_API_KEY', 'eager-api-key'],
    ['eager-api-key', 'eager-api-key'],
    ['Team.Keys_2', 'team.keys-2'],
    ['a', 'a'],
    ['0', '0'],
  ])('%s is the key of the Secret %s', (secretName, name) => {
    expect(findApiKeySecret(secretName)).toEqual({ ok: true, value: { name, key: secretName } });
  });

  it.each([
    ['', 'secret_key_not_legal'],
    ['.', 'secret_key_not_legal'],
    ['..', 'secret_key_not_legal'],
    ['..a', 'secret_key_not_legal'],
    ['a b', 'secret_key_not_legal'],
    ['a/b', 'secret_key_not_legal'],
    ['a\n', 'secret_key_not_legal'],
    ['ſ', 'secret_key_not_legal'],
    ['a'.repeat(254), 'secret_key_not_legal'],
    ['_EAGER', 'secret_name_not_legal'],
    ['EAGER_', 'secret_name_not_legal'],
    ['a_.b', 'secret_name_not_legal'],
    ['a..b', 'secret_name_not_legal'],
    ['.a', 'secret_name_not_legal'],
  ])('%j is refused: %s', (secretName, error) => {
    expect(findApiKeySecret(secretName)).toEqual({ ok: false, error });
  });

  it.each([null, undefined, 5, true, {}, ['EAGER_API_KEY']])(
    'that is no text (%j) is refused, and nothing is thrown',
    (secretName) => {
      expect(findApiKeySecret(secretName as string)).toEqual({
        ok: false,
        error: 'secret_key_not_legal',
      });
    },
  );

  it('is a legal name and a legal key of a Secret, whatever the setting', () => {
    const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[A-Za-z0-9._-]{0,260}$/));
    fc.assert(
      fc.property(text, (secretName) => {
        const found = findApiKeySecret(secretName);
        if (!found.ok) return;
        // The expressions of Kubernetes: apimachinery, IsDNS1123Subdomain and IsConfigMapKey.
        expect(found.value.name).toMatch(new RegExp(`^${label}(\\.${label})*$`));
        expect(found.value.name.length).toBeLessThanOrEqual(253);
        expect(found.value.key).toMatch(/^[-._a-zA-Z0-9]+$/);
      }),
    );
  });

  it('the variable in the pod is the one that released clients read', () => {
    expect(API_KEY_VARIABLE).toBe('EAGER_API_KEY');
  });
});

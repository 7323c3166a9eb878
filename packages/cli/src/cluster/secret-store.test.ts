import { describe, expect, it } from 'vitest';
import {
  isObjectName,
  makeSecretManifest,
  parseSecret,
  replaceSecretData,
} from './secret-store.ts';

const READ = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'ring', namespace: 'cloud-cp', resourceVersion: '7', labels: { a: 'b' } },
  type: 'Opaque',
  immutable: false,
  data: { 'key-ring.json': 'e30=', empty: '' },
};

function parsed() {
  const result = parseSecret(READ);
  if (!result.ok) throw new Error(result.error.description);
  return result.value;
}

describe('A Secret that was read', () => {
  it('has its data decoded, and names its content', () => {
    const { name, namespace, resourceVersion, data } = parsed();
    expect([name, namespace, resourceVersion]).toEqual(['ring', 'cloud-cp', '7']);
    expect(data.get('key-ring.json')?.toString()).toBe('{}');
    expect(data.get('empty')?.length).toBe(0);
  });

  it('may have no data at all', () => {
    const { data: _, ...without } = READ;
    const result = parseSecret(without);
    expect(result.ok && result.value.data.size).toBe(0);
  });

  it('gets other data and keeps all else, the content it was read with included', () => {
    const manifest = replaceSecretData(parsed(), new Map([['new', Buffer.from('x')]]));
    expect(manifest).toEqual({ ...READ, data: { new: 'eA==' } });
  });

  it.each([
    ['of another kind', { ...READ, kind: 'ConfigMap' }],
    ['without a name', { ...READ, metadata: { namespace: 'a', resourceVersion: '1' } }],
    ['without a version', { ...READ, metadata: { name: 'a', namespace: 'a' } }],
    ['whose data is a list', { ...READ, data: [] }],
    ['whose data holds a number', { ...READ, data: { a: 1 } }],
    ['that is null', null],
  ])('is refused when it is an object %s, and no value is said', (_, manifest) => {
    const result = parseSecret(manifest);
    expect(result.ok).toBe(false);
    expect(JSON.stringify(result)).not.toContain('e30');
  });
});

describe('A Secret that is created', () => {
  it('is Opaque, with its data in base64; its namespace can be left to kubectl', () => {
    const data = new Map([['client_secret', Buffer.from('s3')]]);
    expect(makeSecretManifest('a', 'cloud', data, { app: 'x' })).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a', namespace: 'cloud', labels: { app: 'x' } },
      type: 'Opaque',
      data: { client_secret: 'czM=' },
    });
    expect(makeSecretManifest('a', undefined, data)).toMatchObject({
      metadata: { name: 'a', labels: {} },
    });
  });
});

describe('The name of an object', () => {
  it.each(['a', 'core-admin-secrets', 'a.b', 'x'.repeat(253)])('may be %s', (name) => {
    expect(isObjectName(name)).toBe(true);
  });

  it.each(['', '..', '.', '-n', '--all', 'a/b', 'A', 'a%2fb', 'a\n', 'x'.repeat(254)])(
    'may not be %j',
    (name) => {
      expect(isObjectName(name)).toBe(false);
    },
  );
});

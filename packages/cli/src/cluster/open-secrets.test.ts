import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSecrets } from './open-secrets.ts';
import { readPodAccount } from './pod-account.ts';

const SERVER = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
const AUTHORITY = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A folder as Kubernetes mounts it, but for what is given. */
function mount(name: string, files: Readonly<Record<string, string | undefined>> = {}): string {
  const path = join(folder, name);
  mkdirSync(path);
  const all = { token: 'eyJ.a-b_c.d=\n', 'ca.crt': AUTHORITY, namespace: 'cloud-cp', ...files };
  for (const [file, text] of Object.entries(all))
    if (text !== undefined) writeFileSync(join(path, file), text);
  return path;
}

describe('Secrets are reached', () => {
  it('by the mounted service account where there is one', () => {
    const opened = openSecrets({}, SERVER, mount('in-pod'));
    expect(opened).toMatchObject({ ok: true, value: { place: 'https://10.0.0.1' } });
  });

  it('by kubectl elsewhere, and in a pod where that is asked for', () => {
    for (const opened of [
      openSecrets({}, SERVER, join(folder, 'absent')),
      openSecrets({ by: 'kubectl' }, SERVER, mount('in-pod-by-kubectl')),
    ])
      expect(opened).toMatchObject({ ok: true, value: { place: 'kubectl' } });
  });

  it('at an API server with an IPv6 address', () => {
    const environment = {
      ...SERVER,
      KUBERNETES_SERVICE_HOST: 'fd00::1',
      KUBERNETES_SERVICE_PORT: '6443',
    };
    const opened = openSecrets({}, environment, mount('in-pod-v6'));
    expect(opened).toMatchObject({ ok: true, value: { place: 'https://[fd00::1]:6443' } });
  });

  it.each([
    ['no address', {}],
    ['a path behind the host', { KUBERNETES_SERVICE_HOST: 'a/b' }],
    ['a user before the host', { KUBERNETES_SERVICE_HOST: 'a@b' }],
    ['no port', { ...SERVER, KUBERNETES_SERVICE_PORT: 'https' }],
  ])('not with %s in the variables of Kubernetes', (what, environment) => {
    const opened = openSecrets(
      { by: 'pod' },
      environment,
      mount(`variables ${what.replace('/', '')}`),
    );
    expect(opened).toMatchObject({ ok: false, error: expect.stringContaining('KUBERNETES_') });
  });

  it.each(['..', '--all-namespaces', 'A'])('not in a namespace %j', (namespace) => {
    expect(openSecrets({ namespace, by: 'kubectl' }, {}).ok).toBe(false);
  });
});

describe('The mounted service account', () => {
  it('is token, authority and namespace', () => {
    expect(readPodAccount(mount('whole'))).toEqual({
      ok: true,
      value: { token: 'eyJ.a-b_c.d=', authority: AUTHORITY.trim(), namespace: 'cloud-cp' },
    });
  });

  it.each([
    ['no token', { token: undefined }, 'token: found no such file'],
    ['a token of two lines', { token: 'aaa\nbbb' }, 'token: found no token'],
    ['an empty token', { token: '' }, 'token: found no token'],
    ['no authority', { 'ca.crt': undefined }, 'ca.crt: found no such file'],
    ['an authority that is none', { 'ca.crt': 'x' }, 'ca.crt: found no certificate'],
  ])('is refused with %s, and nothing of it is said', (name, files, sentence) => {
    const read = readPodAccount(mount(`with ${name}`, files));
    expect(read).toMatchObject({ ok: false, error: expect.stringContaining(sentence) });
    expect(JSON.stringify(read)).not.toContain('bbb');
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runProbes } from '../graph/run-probes.ts';
import { createSecretProbes } from './secrets.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'other'), 'a-secret', { mode: 0o600 });
writeFileSync(join(folder, 'open'), 'a-secret', { mode: 0o644 });
writeFileSync(join(folder, 'newline'), 'a-secret\n', { mode: 0o600 });
writeFileSync(join(folder, 'empty'), '', { mode: 0o600 });

async function look(path: string) {
  const source = { from: 'file', path, key: 'some.setting' } as const;
  const use = { id: 'web', name: 'the web app', clientId: 'web-app', source };
  const [result] = await runProbes(createSecretProbes([use], false).all, {
    schedule: () => () => {},
    probeTimeoutMs: 1_000,
    signal: new AbortController().signal,
  });
  return result?.findings[0];
}

describe('The cure of a secret that is not there', () => {
  it.each(['oidc_client_secret', 'client_secret'])(
    'names the file %s and its client',
    async (name) => {
      const path = join(folder, name);
      const finding = await look(path);
      expect(finding?.fix).toBe(
        `Write the client secret of web-app into ${path}; in a pod, that is the key ${name} of the mounted Secret.`,
      );
      expect(finding?.evidence.join()).toContain(`some.setting (${name})`);
    },
  );

  it('without the folder names the setting, too', async () => {
    const path = join(folder, 'nowhere', 'oidc_client_secret');
    expect((await look(path))?.fix).toBe(
      `Write the client secret of web-app into ${path}, or correct some.setting; in a pod, mount the Secret there.`,
    );
  });

  it('is a narrower mode where every user of the machine can read the file', async () => {
    const path = join(folder, 'open');
    const finding = await look(path);
    expect([finding?.code, finding?.severity]).toEqual(['secret_open_to_all', 'warn']);
    expect(finding?.fix).toContain(`chmod o-rwx ${path};`);
  });

  it('is none for one that is there', async () => {
    expect(await look(join(folder, 'other'))).toBeUndefined();
  });
});

describe('The first line about a secret', () => {
  it.each([
    ['client_secret', 'the secret of the web app is missing: found no such'],
    ['nowhere/client_secret', 'the secret of the web app is missing: found '],
    ['empty', 'the secret of the web app is missing: found '],
    ['newline', 'the secret of the web app is not written as expected: found a newline at the end'],
  ])('of the file %s says "%s"', async (file, what) => {
    expect((await look(join(folder, file)))?.what.slice(0, what.length)).toBe(what);
  });

  it('that is there and cannot be used does not say that it is missing', async () => {
    const path = join(folder, 'folder-in-place-of-a-file');
    mkdirSync(path);
    expect((await look(path))?.what).toContain('the secret of the web app is not usable as it is');
  });
});

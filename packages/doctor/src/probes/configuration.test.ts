import { loadConfig } from '@sallyport/config';
import { describe, expect, it } from 'vitest';
import { runProbes } from '../graph/run-probes.ts';
import { createConfigurationProbes } from './configuration.ts';

const RIGHT = { baseUrl: 'https://idp.example', clientSecretFile: '/nowhere/secret' };

/** What the doctor says of an admin service's configuration. */
async function examine(openId: object, env: Record<string, string> = {}) {
  const loaded = loadConfig(
    {
      file: {
        path: 'f.yaml',
        text: JSON.stringify({
          publicUrl: 'https://platform.example',
          auth: {
            userAuth: { openId },
            appAuth: { thirdPartyConfig: { flyteClient: { clientId: 'cli-app' } } },
          },
        }),
      },
      env,
      flags: {},
    },
    'serve',
  );
  const probes = createConfigurationProbes({
    server: loaded.ok ? { file: 'f.yaml', loaded: loaded.value } : undefined,
    problems: loaded.ok ? [] : loaded.error,
    clients: [],
    switchedOff: [],
  });
  const [result] = await runProbes(probes, {
    schedule: () => () => {},
    probeTimeoutMs: 1_000,
    signal: new AbortController().signal,
  });
  return result?.findings ?? [];
}

describe('A configuration that cannot be used', () => {
  it('has a misspelled key first, and then the key that is missing for it', async () => {
    const findings = await examine({ ...RIGHT, clientID: 'web-app' });
    expect(findings.map(({ fix }) => fix)).toEqual([
      'Correct auth.userAuth.openId.clientID in f.yaml.',
      'Write auth.userAuth.openId.clientId into f.yaml, or set OIDC_CLIENT_ID.',
    ]);
  });

  it('is corrected by the key where the value stands in the file', async () => {
    const findings = await examine({ ...RIGHT, clientId: 'web-app', baseUrl: 'nowhere' });
    expect(findings.map(({ fix }) => fix)).toEqual([
      'Correct auth.userAuth.openId.baseUrl in f.yaml.',
    ]);
  });

  it('is corrected by the variable where the value stands in the environment', async () => {
    const findings = await examine({ ...RIGHT, clientId: 'web-app' }, { OIDC_BASE_URL: 'nowhere' });
    expect(findings.map(({ fix }) => fix)).toEqual(['Correct OIDC_BASE_URL in the environment.']);
  });

  it('is none where every key is right', async () => {
    expect(await examine({ ...RIGHT, clientId: 'web-app' })).toEqual([]);
  });
});

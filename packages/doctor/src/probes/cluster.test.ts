import { accept, refuse } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import type { ClusterRefusal, KubeObject } from '../cluster.ts';
import { runProbes } from '../graph/run-probes.ts';
import { createClusterProbes } from './cluster.ts';

async function look(
  reason: ClusterRefusal['reason'] | 'empty',
  secrets: readonly KubeObject[] = [],
) {
  const cluster = {
    name: 'the cluster',
    list: async (kind: string) =>
      reason === 'empty'
        ? accept(kind === 'secrets' ? secrets : [])
        : refuse<ClusterRefusal>({ reason, words: 'what\u001b[2J it said' }),
  };
  const subject = { cluster, controlPlane: 'cloud-cp', dataPlane: 'cloud' };
  return runProbes(
    createClusterProbes(
      subject,
      { header: 'core-authorization', secretName: 'EAGER_API_KEY', platformUrl: undefined },
      () => 0,
    ),
    {
      schedule: () => () => {},
      probeTimeoutMs: 1_000,
      signal: new AbortController().signal,
    },
  );
}

describe('A cluster that cannot be read', () => {
  it('without the right to list is no fault: what was not looked at says which right', async () => {
    const [first, ...others] = await look('forbidden');
    expect([first?.status, first?.why]).toEqual(['skip', 'may not list secrets in cloud-cp']);
    for (const { why } of others) expect(why).toBe('needs cluster.access');
  });

  it.each(['unreachable', 'failed'] as const)(
    '%s is a fault, with what was said in one line',
    async (reason) => {
      const [first, ...others] = await look(reason);
      expect(first?.findings.map(({ code, evidence }) => [code, evidence])).toEqual([
        ['cluster_unreachable', ['what [2J it said']],
      ]);
      for (const { why } of others) expect(why).toBe('needs cluster.access');
    },
  );
});

describe('A cluster without the Secrets', () => {
  it('is given the commands with every key that each Secret has', async () => {
    const found = (await look('empty')).find(({ id }) => id === 'cluster.secrets')?.findings;
    expect(found?.map(({ fix }) => fix)).toEqual([
      'kubectl create secret generic core-admin-secrets -n cloud-cp --from-file=client_secret=FILE --from-file=oidc_client_secret=FILE',
      'kubectl create secret generic core-secret-auth -n cloud-cp --from-file=client_secret=FILE',
      'kubectl create secret generic cloud-secret-auth -n cloud --from-file=client_secret=FILE',
    ]);
  });
});

describe('The Secret core-admin-secrets', () => {
  const codesOf = async (keys: readonly string[]) => {
    const data = keys.map((key): [string, string] => [key, 'a-made-up-client-secret']);
    const metadata = { name: 'core-admin-secrets' };
    const results = await look('empty', [{ metadata, stringData: Object.fromEntries(data) }]);
    const findings = results.find(({ id }) => id === 'cluster.secrets')?.findings ?? [];
    return findings.filter(({ code }) => code === 'secret_key_missing').map(({ what }) => what);
  };

  it('needs no secret of a web app that proves itself by a private key', async () => {
    expect(await codesOf(['client_secret', 'oidc_client_secret'])).toEqual([]);
    expect(await codesOf(['client_secret', 'oidc_private_key'])).toEqual([]);
    expect(await codesOf(['client_secret'])).toEqual([
      'the Secret cloud-cp/core-admin-secrets lacks the key oidc_client_secret: nobody can sign in',
    ]);
  });
});

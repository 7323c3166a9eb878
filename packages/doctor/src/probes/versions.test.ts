import { accept, refuse } from '@sallyport/protocol';
import { describe, expect, it } from 'vitest';
import type { Cluster, ClusterRefusal } from '../cluster.ts';
import { found, type Probe } from '../graph/probe.ts';
import { runProbes } from '../graph/run-probes.ts';
import { listVersionProbes } from './versions.ts';

const ACCESS: Probe = {
  id: 'access',
  group: 'cluster',
  title: '',
  needs: [],
  run: () => found(undefined),
};

/** What is said of the version of Kubernetes. */
async function look(readVersion: NonNullable<Cluster['readVersion']>) {
  const cluster = { name: 'the cluster', list: async () => accept([]), readVersion };
  const subject = { cluster, controlPlane: 'cloud-cp', dataPlane: 'cloud' };
  const results = await runProbes(listVersionProbes(subject, ACCESS), {
    schedule: () => () => {},
    probeTimeoutMs: 1_000,
    signal: new AbortController().signal,
  });
  const result = results.find(({ id }) => id === 'cluster.versions.kubernetes');
  return [result?.status, result?.findings.map(({ code }) => code).join()];
}

describe('The version of Kubernetes', () => {
  it.each([
    ['v1.28.15', 'warn', 'kubernetes_too_old'],
    ['v1.9.0', 'warn', 'kubernetes_too_old'],
    ['v1.29.0', 'ok', ''],
    ['v1.36.3+k3s1', 'ok', ''],
    ['v2.0.0', 'ok', ''],
    ['', 'ok', ''],
  ])('%j is %s %s', async (version, status, code) => {
    expect(await look(async () => accept(version))).toEqual([status, code]);
  });

  it('that is not told is no fault', async () => {
    const none = refuse<ClusterRefusal>({ reason: 'failed', words: '' });
    expect(await look(async () => none)).toEqual(['skip', '']);
  });
});

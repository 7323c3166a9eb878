import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, temporaryFolder } from '../../conformance/wire/process.ts';
import { API_SERVER, type Cluster, openCluster } from './api-server.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';

interface Found {
  readonly ok: boolean;
  readonly findings: readonly { readonly code: string; readonly what: string }[];
  readonly probes: readonly {
    readonly id: string;
    readonly status: string;
    readonly why?: string;
  }[];
}

const SECRET = 'made-up-secret-of-the-service-app';

describe.skipIf(API_SERVER.isLeftOut)('The doctor in a cluster', () => {
  const { path: folder, remove } = temporaryFolder();
  let cluster: Cluster;
  let controlPlane: string;
  let dataPlane: string;
  beforeAll(async () => {
    cluster = await openCluster();
    await programPath('kubectl');
    [controlPlane, dataPlane] = [
      await cluster.makeNamespace({}, 'cp'),
      await cluster.makeNamespace(),
    ];
  }, BUILD_TIMEOUT_MS);
  afterAll(remove);

  async function examine(kubeconfig: string = cluster.access.kubeconfig): Promise<Found> {
    const namespaces = [
      ...['--control-plane-namespace', controlPlane],
      ...['--data-plane-namespace', dataPlane],
    ];
    const { stdout, stderr } = await run(
      ['doctor', '--cluster', ...namespaces, '--skip', 'machine', '--json'],
      {
        PATH: `${dirname(await programPath('kubectl'))}:${process.env['PATH'] ?? ''}`,
        KUBECONFIG: kubeconfig,
      },
    );
    expect(stdout, stderr).not.toContain(SECRET);
    return JSON.parse(stdout) as Found;
  }

  async function createSecret(namespace: string, name: string, ...keys: readonly string[]) {
    const names = keys.length === 0 ? ['client_secret'] : keys;
    const data = names.map((key): [string, string] => [key, SECRET]);
    const body = { metadata: { name }, stringData: Object.fromEntries(data) };
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    expect((await cluster.call('POST', path, { body })).status).toBe(201);
  }

  async function deleteObject(path: string) {
    expect((await cluster.call('DELETE', path)).status).toBe(200);
  }

  const codes = ({ findings }: Found): readonly string[] => findings.map(({ code }) => code);

  it('names each Secret that is missing, with what fails without it', async () => {
    const found = await examine();
    expect(codes(found)).toEqual(['secret_missing', 'secret_missing', 'secret_missing']);
    expect(found.findings.map(({ what }) => what)).toEqual([
      expect.stringContaining('core-admin-secrets'),
      expect.stringContaining('the scheduler fails to start'),
      expect.stringContaining('operator and propeller cannot authenticate'),
    ]);
  });

  it('finds nothing wrong once they are there', async () => {
    await createSecret(controlPlane, 'core-admin-secrets', 'client_secret', 'oidc_client_secret');
    await createSecret(controlPlane, 'core-secret-auth');
    await createSecret(dataPlane, 'cloud-secret-auth');
    expect(await examine()).toMatchObject({ ok: true, findings: [] });
  });

  it('names a Secret that lacks the key', async () => {
    await deleteObject(`/api/v1/namespaces/${dataPlane}/secrets/cloud-secret-auth`);
    await createSecret(dataPlane, 'cloud-secret-auth', 'clientSecret');
    expect(codes(await examine())).toEqual(['secret_key_missing']);
    await deleteObject(`/api/v1/namespaces/${dataPlane}/secrets/cloud-secret-auth`);
    await createSecret(dataPlane, 'cloud-secret-auth');
  });

  it('names an Ingress that puts the metadata behind the auth subrequest', async () => {
    const backend = { service: { name: 'admin', port: { number: 80 } } };
    const path = '/flyteidl2.auth.AuthMetadataService';
    const body = {
      metadata: {
        name: 'protected',
        annotations: { 'nginx.ingress.kubernetes.io/auth-url': 'https://$host/me' },
      },
      spec: { rules: [{ http: { paths: [{ path, pathType: 'Prefix', backend }] } }] },
    };
    const at = `/apis/networking.k8s.io/v1/namespaces/${controlPlane}/ingresses`;
    expect((await cluster.call('POST', at, { body })).status).toBe(201);
    expect(codes(await examine())).toEqual(['metadata_behind_sign_in']);
    await deleteObject(`${at}/protected`);
  });

  it('says which right is missing, and takes that for no fault', async () => {
    const token = await cluster.issueToken(dataPlane, 'default');
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [
          {
            name: 'c',
            cluster: { server: cluster.access.url, 'certificate-authority': cluster.access.caFile },
          },
        ],
        users: [{ name: 'u', user: { token } }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'c',
      }),
      { mode: 0o600 },
    );
    const { ok, findings, probes } = await examine(kubeconfig);
    expect([ok, findings]).toEqual([true, []]);
    expect(probes.find(({ id }) => id === 'cluster.access')?.why).toBe(
      `may not list secrets in ${controlPlane}`,
    );
  });

  it('names a cluster that cannot be reached', async () => {
    const { findings } = await examine(join(folder, 'no-such-file'));
    expect(findings[0]?.code).toBe('cluster_unreachable');
  });
});

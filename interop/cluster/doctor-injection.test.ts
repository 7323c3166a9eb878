/**
 * The doctor at a data plane whose API server injects the API key, with one fault at a time.
 */

import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../conformance/wire/process.ts';
import { API_SERVER, type Cluster, openCluster } from './api-server.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import { type Injection, installPolicy, installWebhook, podOf } from './injection.ts';

interface Found {
  readonly findings: readonly {
    readonly code: string;
    readonly probe: string;
    readonly what: string;
    readonly evidence: readonly string[];
  }[];
  readonly probes: readonly {
    readonly id: string;
    readonly status: string;
    readonly why?: string;
  }[];
}

/** Pods of other tests in the same cluster have another one. */
const POD_LABEL = 'test/doctor-injection';
const SPEC = { containers: [{ name: 'main' }] };

describe.skipIf(API_SERVER.isLeftOut)('The doctor at a data plane that injects the API key', () => {
  let cluster: Cluster;
  let controlPlane: string;
  beforeAll(async () => {
    cluster = await openCluster();
    for (const name of ['helm', 'kubectl'] as const) await programPath(name);
    controlPlane = await cluster.makeNamespace({}, 'cp');
    for (const name of ['core-admin-secrets', 'core-secret-auth'])
      await create(`/api/v1/namespaces/${controlPlane}/secrets`, {
        metadata: { name },
        stringData: {
          client_secret: 'a-made-up-secret',
          oidc_client_secret: 'another-made-up-one',
        },
      });
  }, BUILD_TIMEOUT_MS);

  async function create(path: string, body: object): Promise<void> {
    const { status, body: said } = await cluster.call('POST', path, { body });
    expect([status, said.message]).toEqual([201, undefined]);
  }

  /** Its namespace with what a data plane has, and a namespace for task pods. */
  async function install(injection: Injection): Promise<string> {
    onTestFinished(() => injection.remove());
    const { namespace, webhook } = injection;
    await create('/api/v1/namespaces', { metadata: { name: namespace } });
    const secrets = `/api/v1/namespaces/${namespace}/secrets`;
    await create(secrets, {
      metadata: { name: 'cloud-secret-auth' },
      stringData: { client_secret: 'a-made-up-secret' },
    });
    if (webhook !== undefined)
      await create(secrets, {
        metadata: { name: 'sallyport-inject-tls' },
        stringData: { 'tls.crt': readFileSync(webhook.certificates.certFile, 'utf8') },
      });
    const tasks = await cluster.makeNamespace({ [injection.namespaceLabel]: 'true' }, 'tasks');
    await makePod(tasks);
    return tasks;
  }

  const makePod = (namespace: string) =>
    create(
      `/api/v1/namespaces/${namespace}/pods`,
      podOf(SPEC, { labels: { [POD_LABEL]: 'true' } }),
    );

  async function examine({ namespace }: Injection): Promise<Found> {
    const { stdout, stderr } = await run(
      [
        ...['doctor', '--cluster', '--skip', 'machine', '--json'],
        ...['--control-plane-namespace', controlPlane, '--data-plane-namespace', namespace],
      ],
      {
        PATH: `${dirname(await programPath('kubectl'))}:${process.env['PATH'] ?? ''}`,
        KUBECONFIG: cluster.access.kubeconfig,
      },
    );
    expect(stderr).toBe('');
    return JSON.parse(stdout) as Found;
  }

  const codesOf = ({ findings }: Found): readonly string[] => findings.map(({ code }) => code);
  const statusOf = ({ probes }: Found, id: string): string | undefined =>
    probes.find((probe) => probe.id === `cluster.injection${id}`)?.status;

  it.each([
    ['a webhook', installWebhook],
    ['a policy', installPolicy],
  ] as const)('by %s finds nothing wrong, and a dry run shows the key in a pod', async (_, by) => {
    const injection = await by({ podLabel: POD_LABEL });
    await install(injection);
    const found = await examine(injection);
    expect(found.findings).toEqual([]);
    const ids = ['', '.service', '.certificate', '.namespaces', '.trial', '.pods', '.failures'];
    expect(ids.map((id) => [id, statusOf(found, id)])).toEqual(ids.map((id) => [id, 'ok']));
  });

  it('names a webhook that cannot be asked, in the words of the API server', async () => {
    const injection = await installWebhook({ podLabel: POD_LABEL });
    await install(injection);
    await injection.webhook?.process.kill();
    const found = await examine(injection);
    expect(codesOf(found)).toEqual(['webhook_unreachable']);
    expect(found.findings[0]?.evidence.join(' ')).toMatch(/failed calling webhook.*refused/);
    expect(found.probes.find(({ id }) => id === 'cluster.injection.pods')?.why).toBe(
      'needs cluster.injection.trial',
    );
  });

  it('names a webhook that cannot be asked behind failurePolicy Ignore, where nobody says so', async () => {
    const injection = await installWebhook({ podLabel: POD_LABEL, failurePolicy: 'Ignore' });
    await install(injection);
    await injection.webhook?.process.kill();
    expect(codesOf(await examine(injection))).toEqual([
      'injection_not_done',
      'injection_failures_ignored',
    ]);
  });

  it('names a certificate of another authority, and not what comes of it', async () => {
    const injection = await installWebhook({ podLabel: POD_LABEL });
    injection.webhook?.certificates.renew('new authority');
    const { namespaceLabel } = injection;
    await cluster.makeNamespace({ [namespaceLabel]: 'false' });
    onTestFinished(() => injection.remove());
    await create('/api/v1/namespaces', { metadata: { name: injection.namespace } });
    const secrets = `/api/v1/namespaces/${injection.namespace}/secrets`;
    const certificate = readFileSync(injection.webhook?.certificates.certFile ?? '', 'utf8');
    for (const [name, stringData] of [
      ['cloud-secret-auth', { client_secret: 'a-made-up-secret' }],
      ['sallyport-inject-tls', { 'tls.crt': certificate }],
    ] as const)
      await create(secrets, { metadata: { name }, stringData });
    const found = await examine(injection);
    expect(codesOf(found)).toEqual(['webhook_certificate_untrusted']);
    expect(found.probes.find(({ id }) => id === 'cluster.injection.trial')?.why).toBe(
      'needs cluster.injection.certificate',
    );
  });

  it('names task pods that were made without the key, and namespaces that are not looked at', async () => {
    const injection = await installPolicy({ podLabel: POD_LABEL });
    const tasks = await install(injection);
    const [early, other] = [await cluster.makeNamespace(), await cluster.makeNamespace()];
    for (const namespace of [early, other]) await makePod(namespace);
    await cluster.call('PATCH', `/api/v1/namespaces/${early}`, {
      body: { metadata: { labels: { [injection.namespaceLabel]: 'true' } } },
      contentType: 'application/merge-patch+json',
    });
    const found = await examine(injection);
    expect(codesOf(found)).toEqual(['injection_namespace_not_selected', 'task_pods_without_key']);
    const [outside, within] = found.findings.map(({ evidence }) => evidence.join(' '));
    expect(outside).toContain(`pod ${other}/`);
    expect(within).toContain(`pod ${early}/`);
    expect(within).not.toContain(tasks);
    for (const namespace of [early, other])
      await cluster.call('DELETE', `/api/v1/namespaces/${namespace}/pods`);
  });

  it('names a policy without its binding', async () => {
    const injection = await installPolicy({ podLabel: POD_LABEL });
    await install(injection);
    const path = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings';
    expect((await cluster.call('DELETE', `${path}/${injection.name}`)).status).toBe(200);
    expect(codesOf(await examine(injection))).toEqual(['injection_policy_unbound']);
  });
});

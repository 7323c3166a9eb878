/**
 * The charts on a real API server: installed, upgraded, uninstalled, and what their service accounts may do.
 *
 * @module
 */

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { openSecrets } from '../../packages/cli/src/cluster/open-secrets.ts';
import { API_SERVER, type Cluster, openCluster } from './api-server.ts';
import { installExternalSecrets } from './external-secret.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import {
  chartFolder,
  helm,
  install,
  type KubernetesObject,
  type Rendering,
  render,
} from './helm.ts';

type OwnChart = 'sallyport' | 'sallyport-dataplane';

const STORE = { enabled: true, remoteRef: { key: 'platform/service-app' } };
const CONTROL_PLANE_SECRETS = {
  coreAdmin: { create: true },
  adminOauthClientCredentials: { enabled: true, clientSecret: 'stand-in' },
};
const DATA_PLANE_SECRETS = { admin: { enable: true, create: true, clientSecret: 'stand-in' } };
const IMAGE = { repository: 'registry.example.com/sallyport' };
const CA = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';

const INSTALLATIONS: readonly (readonly [string, OwnChart, Readonly<Record<string, unknown>>])[] = [
  [
    'the control plane with option A',
    'sallyport',
    { externalSecrets: STORE, secrets: CONTROL_PLANE_SECRETS },
  ],
  ['the control plane with option B', 'sallyport', {}],
  [
    'the data plane with option A, and the API key from the store',
    'sallyport-dataplane',
    {
      externalSecrets: STORE,
      secrets: DATA_PLANE_SECRETS,
      eagerApiKey: { externalSecret: { ...STORE } },
    },
  ],
  ['the data plane with option B', 'sallyport-dataplane', {}],
  [
    'the data plane with the webhook',
    'sallyport-dataplane',
    { image: IMAGE, injection: { mode: 'webhook', webhook: { certificate: { caBundle: CA } } } },
  ],
  ['the data plane with the policy', 'sallyport-dataplane', { injection: { mode: 'policy' } }],
];

/** Secrets that stay when a release is uninstalled. */
const KEPT: Readonly<Record<OwnChart, readonly string[]>> = {
  sallyport: ['core-admin-secrets', 'core-secret-auth'],
  'sallyport-dataplane': ['cloud-secret-auth'],
};

describe.skipIf(API_SERVER.isLeftOut)('On a real API server', () => {
  const { path: folder, remove } = temporaryFolder();
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await openCluster();
    for (const name of ['helm', 'kubectl'] as const) await programPath(name);
    await installExternalSecrets(cluster);
  }, BUILD_TIMEOUT_MS);
  afterAll(remove);

  const secretPath = (namespace: string, name: string) =>
    `/api/v1/namespaces/${namespace}/secrets/${name}`;
  const isThere = async (path: string) => (await cluster.call('GET', path)).status === 200;
  const atThisVersion = ['--kube-version', '1.36.3'];

  it.each(INSTALLATIONS)('helm installs %s without a warning', async (_, chart, values) => {
    const namespace = await cluster.makeNamespace();
    const rendering: Rendering = { chart, namespace, values };
    const { code, stdout, stderr } = await install(rendering, cluster.access.kubeconfig);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('STATUS: deployed');
  });

  it.each(INSTALLATIONS)('kubectl takes %s under strict validation', async (_, chart, values) => {
    const namespace = await cluster.makeNamespace();
    const objects = await render({ chart, namespace, values, args: atThisVersion });
    const { code, stdout, stderr } = await cluster.kubectl(
      ['apply', '--validate=strict', '--filename=-'],
      objects.map((object) => stringify(object)).join('---\n'),
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.trim().split('\n')).toHaveLength(objects.length);
  });

  it('an ExternalSecret with a policy that is none is refused by the same validation', async () => {
    const namespace = await cluster.makeNamespace();
    const values = { externalSecrets: STORE, secrets: CONTROL_PLANE_SECRETS };
    const objects = await render({ chart: 'sallyport', namespace, values });
    const one = objects.find(({ kind }) => kind === 'ExternalSecret');
    const { code, stderr } = await cluster.kubectl(
      ['apply', '--validate=strict', '--filename=-'],
      stringify(one).replace('Merge', 'Mrge'),
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('Unsupported value: "Mrge"')]);
  });

  describe.each([
    ['sallyport', { secrets: CONTROL_PLANE_SECRETS }],
    ['sallyport-dataplane', { secrets: DATA_PLANE_SECRETS }],
  ] as const)('the chart %s', (chart, values) => {
    let namespace: string;
    beforeAll(async () => {
      namespace = await cluster.makeNamespace();
    });

    /** The same chart as it was before: its version is all that tells. */
    function chartBefore(): string {
      const copy = join(folder, chart);
      mkdirSync(copy);
      cpSync(chartFolder(chart), copy, { recursive: true });
      const file = join(copy, 'Chart.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll('0.1.0', '0.0.9'));
      return copy;
    }

    it('is upgraded from the version before, and no byte of a Secret that was filled changes', async () => {
      await installBefore();
      const filled: KubernetesObject[] = [];
      for (const name of KEPT[chart]) {
        const path = secretPath(namespace, name);
        const { body } = await cluster.call('GET', path);
        expect(body['data']).toBeUndefined();
        const data = { client_secret: Buffer.from('synchronised').toString('base64') };
        const answer = await cluster.call('PUT', path, { body: { ...body, data } });
        expect(answer.status).toBe(200);
        filled.push(answer.body as KubernetesObject);
      }
      const { code, stderr } = await install(
        { chart, namespace, values: { ...values } },
        cluster.access.kubeconfig,
      );
      expect([code, stderr]).toEqual([0, '']);
      for (const secret of filled) {
        const { body } = await cluster.call('GET', secretPath(namespace, secret.metadata.name));
        expect(body['data']).toEqual(secret['data']);
      }
      const history = await helm(
        ['history', 'sallyport', '--namespace', namespace, '--output', 'json'],
        cluster.access.kubeconfig,
      );
      const revisions = JSON.parse(history.stdout) as readonly { readonly chart: string }[];
      expect(revisions.map((revision) => revision.chart)).toEqual([
        `${chart}-0.0.9`,
        `${chart}-0.1.0`,
      ]);
    });

    async function installBefore(): Promise<void> {
      const { code, stderr } = await helm(
        [
          ...['install', 'sallyport', chartBefore(), '--no-hooks', '--namespace', namespace],
          ...['--values', valuesFile()],
        ],
        cluster.access.kubeconfig,
      );
      expect([code, stderr]).toEqual([0, '']);
    }

    /** With what every installation needs. */
    function valuesFile(): string {
      const file = join(folder, `${chart}-values.json`);
      const global = {
        OIDC_BASE_URL: 'https://idp.example.com',
        OIDC_CLIENT_ID: 'web-app',
        CLI_CLIENT_ID: 'native-app',
        INTERNAL_CLIENT_ID: 'service-app',
        AUTH_TOKEN_URL: 'https://idp.example.com/token',
        AUTH_CLIENT_ID: 'service-app',
      };
      const all = { publicUrl: 'https://platform.example.com', global, image: IMAGE, ...values };
      writeFileSync(file, JSON.stringify(all));
      return file;
    }

    it('leaves its Secrets behind when it is uninstalled, and nothing else', async () => {
      const { code, stderr } = await helm(
        ['uninstall', 'sallyport', '--no-hooks', '--namespace', namespace],
        cluster.access.kubeconfig,
      );
      expect([code, stderr]).toEqual([0, '']);
      for (const name of KEPT[chart])
        expect(await isThere(secretPath(namespace, name)), name).toBe(true);
      const rest = await cluster.kubectl([
        ...[
          'get',
          'deployments,services,configmaps,roles,rolebindings,cronjobs,jobs',
          '--output=name',
        ],
        ...['--namespace', namespace],
      ]);
      expect(rest.stdout.trim()).toBe('');
    });
  });

  describe('service accounts of the charts', () => {
    const RING = 'sallyport-key-ring';
    /** What each may do; the requirement of the key ring, typed. */
    const ALLOWED: Readonly<Record<string, readonly string[]>> = {
      'sallyport-key-ring-creation': [
        'create secrets',
        `create secrets/${RING}`,
        'create secrets/core-admin-secrets',
        `get secrets/${RING}`,
      ],
      'sallyport-key-ring-rotation': [`get secrets/${RING}`, `update secrets/${RING}`],
    };
    const VERBS = [
      'get',
      'list',
      'watch',
      'create',
      'update',
      'patch',
      'delete',
      'deletecollection',
    ];
    const THINGS = [
      ...['secrets', `secrets/${RING}`, 'secrets/core-admin-secrets', 'configmaps', 'pods'],
      ...['pods/exec', 'serviceaccounts/token', 'roles', 'rolebindings', 'cronjobs'],
    ];
    const GROUPS: Readonly<Record<string, string>> = {
      roles: 'rbac.authorization.k8s.io',
      rolebindings: 'rbac.authorization.k8s.io',
      cronjobs: 'batch',
    };
    let namespace: string;
    beforeAll(async () => {
      namespace = await cluster.makeNamespace();
      const objects = await renderAll(namespace);
      const permissions = objects.filter(({ kind }) =>
        ['Role', 'RoleBinding', 'ServiceAccount'].includes(kind),
      );
      const { code, stderr } = await cluster.kubectl(
        ['apply', '--filename=-'],
        permissions.map((object) => stringify(object)).join('---\n'),
      );
      expect([code, stderr]).toEqual([0, '']);
    });

    async function renderAll(within: string): Promise<readonly KubernetesObject[]> {
      const all: KubernetesObject[] = [];
      for (const [, chart, values] of INSTALLATIONS)
        all.push(...(await render({ chart, namespace: within, values, args: atThisVersion })));
      return all;
    }

    it('are these two, and no permission reaches beyond the namespace', async () => {
      const objects = await renderAll(namespace);
      const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount');
      expect([...new Set(accounts.map(({ metadata }) => metadata.name))].toSorted()).toEqual(
        Object.keys(ALLOWED).toSorted(),
      );
      expect(objects.filter(({ kind }) => kind.startsWith('Cluster'))).toEqual([]);
    });

    it('have no token in a pod that needs none', async () => {
      const objects = await renderAll(namespace);
      const deployments = objects.filter(({ kind }) => kind === 'Deployment');
      expect(deployments.length).toBeGreaterThan(0);
      for (const { spec } of deployments)
        expect(spec).toMatchObject({ template: { spec: { automountServiceAccountToken: false } } });
    });

    it.each(Object.entries(ALLOWED))(
      '%s may do exactly what it is for',
      async (account, allowed) => {
        const token = await cluster.issueToken(namespace, account);
        const elsewhere = await cluster.makeNamespace();
        const granted: string[] = [];
        const body = (within: string, verb: string, thing: string) => {
          const [resource = '', name] = thing.split('/');
          const isSubresource = ['exec', 'token'].includes(name ?? '');
          return {
            spec: {
              resourceAttributes: {
                namespace: within,
                verb,
                resource,
                group: GROUPS[resource] ?? '',
                ...(isSubresource ? { subresource: name } : { name }),
              },
            },
          };
        };
        const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
        for (const thing of THINGS)
          for (const verb of VERBS) {
            const here = await cluster.call('POST', path, {
              token,
              body: body(namespace, verb, thing),
            });
            if ((here.body['status'] as { allowed: boolean }).allowed)
              granted.push(`${verb} ${thing}`);
          }
        expect(granted.toSorted()).toEqual(allowed.toSorted());
        for (const verb of ['get', 'create', 'update']) {
          const there = await cluster.call('POST', path, {
            token,
            body: body(elsewhere, verb, `secrets/${RING}`),
          });
          expect((there.body['status'] as { allowed: boolean }).allowed).toBe(false);
        }
      },
    );

    it('make, read and replace the key ring by these permissions, and nothing beside it', async () => {
      const ring = (text: string) => new Map([['key-ring.json', Buffer.from(text)]]);
      const creation = await openAs('sallyport-key-ring-creation');
      expect(await creation.read(RING)).toMatchObject({
        ok: false,
        error: { reason: 'not_found' },
      });
      expect((await creation.create(RING, ring('1'))).ok).toBe(true);
      const rotation = await openAs('sallyport-key-ring-rotation');
      const read = await rotation.read(RING);
      if (!read.ok) throw new Error(read.error.description);
      expect((await rotation.update(read.value, ring('2'))).ok).toBe(true);
      const forbidden = { ok: false, error: { reason: 'forbidden' } };
      expect(await creation.update(read.value, ring('3'))).toMatchObject(forbidden);
      expect(await rotation.create('another', ring('3'))).toMatchObject(forbidden);
      expect(await rotation.read('core-admin-secrets')).toMatchObject(forbidden);
      expect(await creation.read('core-admin-secrets')).toMatchObject(forbidden);
    });

    /** As a pod of the account. */
    async function openAs(account: string) {
      const mounted = join(folder, account);
      mkdirSync(mounted);
      writeFileSync(join(mounted, 'token'), await cluster.issueToken(namespace, account));
      writeFileSync(join(mounted, 'ca.crt'), cluster.authority);
      writeFileSync(join(mounted, 'namespace'), namespace);
      const { hostname, port } = new URL(cluster.access.url);
      const variables = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
      const opened = openSecrets({}, variables, mounted);
      if (!opened.ok) throw new Error(opened.error);
      return opened.value;
    }
  });
});

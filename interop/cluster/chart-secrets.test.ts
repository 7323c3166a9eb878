/**
 * The Secrets of both charts, typed from the requirement's tables: what is rendered, mounted and synchronised.
 *
 * @module
 */

import { beforeAll, describe, expect, it } from 'vitest';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import {
  type ChartName,
  findObject,
  HELM,
  type KubernetesObject,
  render,
  tryRender,
} from './helm.ts';
import { listPods, listSecretMounts } from './pod-mounts.ts';

/** Stands where a person might put a secret into the values. */
const STAND_IN = 'canary-7f1c';

const ADMIN = { enable: true, create: true, clientId: 'service-app', clientSecret: STAND_IN };
const CREDENTIALS = { enabled: true, clientSecret: STAND_IN };
const STORE = { enabled: true, remoteRef: { key: 'platform/service-app' } };

/** Option A, on both planes. */
const SYNCHRONISED: Readonly<Record<'sallyport' | 'sallyport-dataplane', object>> = {
  sallyport: {
    externalSecrets: STORE,
    secrets: { coreAdmin: { create: true }, adminOauthClientCredentials: CREDENTIALS },
  },
  'sallyport-dataplane': { externalSecrets: STORE, secrets: { admin: ADMIN } },
};

async function renderOptionA(): Promise<readonly KubernetesObject[]> {
  const [controlPlane, dataPlane] = await Promise.all([
    render({ chart: 'sallyport', values: { ...SYNCHRONISED.sallyport } }),
    render({
      chart: 'sallyport-dataplane',
      namespace: 'cloud',
      values: { ...SYNCHRONISED['sallyport-dataplane'] },
    }),
  ]);
  return [...controlPlane, ...dataPlane];
}

function kindsOf(objects: readonly KubernetesObject[], kind: string): readonly string[] {
  return objects
    .filter((object) => object.kind === kind)
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

async function refusalOf(chart: ChartName, values: object): Promise<string> {
  const { code, stdout, stderr } = await tryRender({ chart, values: { ...values } });
  expect(code).toBe(1);
  expect(stdout).toBe('');
  return stderr;
}

describe.skipIf(HELM.isLeftOut)('Secrets of the charts', () => {
  beforeAll(() => programPath('helm'), BUILD_TIMEOUT_MS);

  describe('secrets.admin of the data plane', () => {
    it.each([
      [{ enable: true, create: true }, ['cloud/cloud-secret-auth'], true],
      [{ enable: true, create: false }, [], true],
      [{ enable: false, create: false }, [], false],
    ])('%j: creates and mounts cloud-secret-auth or not', async (switches, created, isMounted) => {
      const admin = { ...ADMIN, ...switches };
      const objects = await render({
        chart: 'platform',
        values: {
          'sallyport-dataplane': {
            publicUrl: 'https://platform.example.com',
            secrets: { admin },
          },
        },
      });
      expect(kindsOf(objects, 'Secret')).toEqual(created);
      const users = listSecretMounts(objects).filter(
        ({ secret }) => secret === 'cloud-secret-auth',
      );
      expect(users.length > 0).toBe(isMounted);
    });

    it('is refused with create and without enable', async () => {
      expect(
        await refusalOf('sallyport-dataplane', {
          secrets: { admin: { ...ADMIN, enable: false } },
        }),
      ).toContain(
        'secrets.admin.create makes a Secret that secrets.admin.enable=false mounts nowhere',
      );
    });

    it('is refused with create and without a stand-in', async () => {
      expect(
        await refusalOf('sallyport-dataplane', {
          secrets: { admin: { ...ADMIN, clientSecret: '' } },
        }),
      ).toContain('secrets.admin.create needs a stand-in in secrets.admin.clientSecret');
    });

    it.each([
      ['given', 'data-plane-app', 'data-plane-app'],
      ['by default', undefined, 'service-app'],
    ])(
      'clientId, %s, fills AUTH_CLIENT_ID and every client of the data plane',
      async (_, given, expected) => {
        const admin = given === undefined ? {} : { clientId: given };
        const objects = await render({
          chart: 'sallyport-dataplane',
          namespace: 'cloud',
          values: { secrets: { admin } },
        });
        const { data } = findObject(objects, 'ConfigMap', 'sallyport-dataplane-services');
        const { AUTH_CLIENT_ID, 'services.yaml': services = '' } = data as Record<string, string>;
        expect(AUTH_CLIENT_ID).toBe(expected);
        expect(services.match(/clientId: .*/g)).toEqual(Array(3).fill(`clientId: "${expected}"`));
      },
    );
  });

  describe('secrets.adminOauthClientCredentials of the scheduler', () => {
    const withCredentials = (credentials: object) =>
      render({
        chart: 'platform',
        values: {
          sallyport: {
            publicUrl: 'https://platform.example.com',
            image: { repository: 'registry.example.com/sallyport' },
            secrets: { adminOauthClientCredentials: credentials },
          },
        },
      });
    const schedulerMounts = (objects: readonly KubernetesObject[]) =>
      listSecretMounts(objects)
        .filter(({ workload }) => workload === 'scheduler')
        .map(({ secret }) => secret);

    it('a stand-in makes core-secret-auth be created', async () => {
      const objects = await withCredentials(CREDENTIALS);
      expect(kindsOf(objects, 'Secret')).toEqual(['cloud-cp/core-secret-auth']);
      expect(schedulerMounts(objects)).toEqual(['core-secret-auth']);
    });

    it('without a stand-in core-secret-auth is mounted and not created', async () => {
      const objects = await withCredentials({ enabled: true });
      expect(kindsOf(objects, 'Secret')).toEqual([]);
      expect(schedulerMounts(objects)).toEqual(['core-secret-auth']);
    });

    it('enabled false mounts and creates nothing, stand-in or not', async () => {
      const objects = await withCredentials({ ...CREDENTIALS, enabled: false });
      expect(kindsOf(objects, 'Secret')).toEqual([]);
      expect(schedulerMounts(objects)).toEqual([]);
    });
  });

  it('the text of a stand-in is written nowhere', async () => {
    for (const [chart, values] of Object.entries(SYNCHRONISED)) {
      const { stdout } = await tryRender({ chart: chart as ChartName, values: { ...values } });
      expect(stdout).toContain('kind: Secret');
      expect(stdout).not.toContain(STAND_IN);
    }
  });

  it('Secrets are rendered without a key, and stay when the release is uninstalled', async () => {
    const secrets = (await renderOptionA()).filter(({ kind }) => kind === 'Secret');
    expect(secrets).toHaveLength(3);
    for (const secret of secrets) {
      expect(secret).not.toHaveProperty('data');
      expect(secret).not.toHaveProperty('stringData');
      expect(secret.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    }
  });

  describe('mounts, by the requirement', () => {
    it.each([
      ['core-admin-secrets', '/etc/secrets/', 'sallyport', 'cloud-cp'],
      ['core-secret-auth', '/etc/secrets/', 'scheduler', 'cloud-cp'],
      ['control-plane-services', '/etc/secrets/union/', 'executions', 'cloud-cp'],
      ['control-plane-services', '/etc/secrets/union/', 'cluster', 'cloud-cp'],
      ['control-plane-services', '/etc/secrets/union/', 'usage', 'cloud-cp'],
      ['cloud-secret-auth', '/etc/union/secret/', 'operator', 'cloud'],
      ['cloud-secret-auth', '/etc/union/secret/', 'propeller', 'cloud'],
      ['cloud-secret-auth', '/etc/union/secret/', 'cluster-resource-sync', 'cloud'],
    ])('%s at %s for %s in %s, as a folder', async (secret, mountPath, workload, namespace) => {
      const objects = await render({ chart: 'platform' });
      expect(listSecretMounts(objects)).toContainEqual({
        secret,
        mountPath,
        workload,
        namespace,
        isFolder: true,
      });
    });

    it('no workload mounts a Secret that the table does not give it', async () => {
      const objects = await render({ chart: 'platform' });
      const users = Map.groupBy(listSecretMounts(objects), ({ secret }) => secret);
      const byName = [...users].map(([secret, mounts]) => [
        secret,
        mounts.map(({ workload }) => workload).toSorted(),
      ]);
      expect(Object.fromEntries(byName)).toMatchObject({
        'core-admin-secrets': ['sallyport'],
        'core-secret-auth': ['scheduler'],
        'control-plane-services': ['cluster', 'executions', 'usage'],
        'cloud-secret-auth': ['cluster-resource-sync', 'executor', 'operator', 'propeller'],
      });
    });

    it('Secrets reach pods as files: none by a variable, an argument or a subPath', async () => {
      const pods = listPods(await render({ chart: 'platform' }));
      expect(pods.length).toBeGreaterThanOrEqual(9);
      for (const { pod } of pods) {
        for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
          const text = JSON.stringify({ ...container, volumeMounts: [] });
          expect(text).not.toMatch(/secretKeyRef|secretRef|envFrom/);
          for (const mount of container.volumeMounts) expect(mount).not.toHaveProperty('subPath');
        }
      }
    });

    it('the name of the control plane service secret is a value', async () => {
      const objects = await render({
        chart: 'platform',
        values: {
          sallyport: {
            publicUrl: 'https://platform.example.com',
            image: { repository: 'registry.example.com/sallyport' },
            secrets: { service: { name: 'services-of-ours' } },
          },
        },
      });
      const names = listSecretMounts(objects).map(({ secret }) => secret);
      expect(names).toContain('services-of-ours');
      expect(names).not.toContain('control-plane-services');
    });
  });

  describe('Option A', () => {
    const targets = [
      'cloud-cp/core-admin-secrets',
      'cloud-cp/core-secret-auth',
      'cloud/cloud-secret-auth',
    ];

    it('has one ExternalSecret for each of the three targets, and no other', async () => {
      expect(kindsOf(await renderOptionA(), 'ExternalSecret')).toEqual(targets);
    });

    it('is off by default: no ExternalSecret is rendered', async () => {
      for (const chart of ['sallyport', 'sallyport-dataplane'] as const)
        expect(kindsOf(await render({ chart }), 'ExternalSecret')).toEqual([]);
    });

    const each = async (): Promise<readonly Record<string, unknown>[]> =>
      (await renderOptionA())
        .filter(({ kind }) => kind === 'ExternalSecret')
        .map((object) => object as unknown as Record<string, unknown>);

    it.each([
      ['apiVersion', (found: Found) => found.apiVersion, 'external-secrets.io/v1'],
      ['refreshInterval', (found: Found) => found.spec.refreshInterval, '1h'],
      ['creationPolicy', (found: Found) => found.spec.target.creationPolicy, 'Merge'],
      ['deletionPolicy', (found: Found) => found.spec.target.deletionPolicy, 'Retain'],
      [
        'the one data entry',
        (found: Found) => found.spec.data,
        [{ secretKey: 'client_secret', remoteRef: { key: 'platform/service-app' } }],
      ],
    ])('%s of each is that of the requirement', async (_, read, expected) => {
      const found = await each();
      expect(found).toHaveLength(3);
      for (const one of found) expect(read(one as unknown as Found)).toEqual(expected);
    });

    it('each target is the Secret of the same name, which the chart makes', async () => {
      const objects = await renderOptionA();
      for (const one of await each()) {
        const { spec } = one as unknown as Found;
        expect(targets).toContain(
          `${(one['metadata'] as { namespace: string }).namespace}/${spec.target.name}`,
        );
      }
      expect(kindsOf(objects, 'Secret')).toEqual(targets);
    });

    it.each([
      ['sallyport', { externalSecrets: STORE }, 'set secrets.coreAdmin.create'],
      [
        'sallyport',
        { externalSecrets: STORE, secrets: { coreAdmin: { create: true } } },
        'set secrets.adminOauthClientCredentials.clientSecret to a stand-in',
      ],
      ['sallyport-dataplane', { externalSecrets: STORE }, 'set secrets.admin.create'],
    ] as const)(
      '%s refuses a Merge into a Secret that is not made: %j',
      async (chart, values, reason) => {
        expect(await refusalOf(chart, values)).toContain(reason);
      },
    );

    it('merges into Secrets that are said to be there, and makes none', async () => {
      const values = { externalSecrets: { ...STORE, targetsExist: true } };
      const objects = await render({ chart: 'sallyport', values });
      expect(kindsOf(objects, 'ExternalSecret')).toHaveLength(2);
      expect(kindsOf(objects, 'Secret')).toEqual([]);
    });
  });

  describe('the ExternalSecret of the API key of task pods', () => {
    const values = {
      eagerApiKey: {
        externalSecret: {
          enabled: true,
          remoteRef: { key: 'acme' },
          taskNamespaces: ['a', 'b', 'cloud'],
        },
      },
    };

    it("brings the key into the executor's namespace and every task namespace, as its owner", async () => {
      const objects = await render({ chart: 'sallyport-dataplane', namespace: 'cloud', values });
      expect(kindsOf(objects, 'ExternalSecret')).toEqual([
        'cloud/eager-api-key',
        'a/eager-api-key',
        'b/eager-api-key',
      ]);
      for (const object of objects.filter(({ kind }) => kind === 'ExternalSecret')) {
        const { spec } = object as unknown as Found;
        expect(spec.target).toMatchObject({ name: 'eager-api-key', creationPolicy: 'Owner' });
        expect(spec.data).toEqual([{ secretKey: 'EAGER_API_KEY', remoteRef: { key: 'acme' } }]);
      }
    });
  });
});

/** An ExternalSecret, in the parts that are looked at. */
interface Found {
  readonly apiVersion: string;
  readonly spec: {
    readonly refreshInterval: string;
    readonly target: {
      readonly name: string;
      readonly creationPolicy: string;
      readonly deletionPolicy: string;
    };
    readonly data: readonly unknown[];
  };
}

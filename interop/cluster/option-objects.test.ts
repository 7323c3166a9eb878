/**
 * What the chart `sallyport` renders on request, and what every pod of both charts keeps to.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CHECKOUT } from '../../tools/build/layout.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import { findObject, HELM, type KubernetesObject, render, tryRender } from './helm.ts';
import { listPods, type PodSpec } from './pod-mounts.ts';

const REDIS = { addresses: ['redis-0:6379', 'redis-1:6380'] };

const METRICS = {
  enabled: true,
  serviceMonitor: { enabled: true },
  rules: { enabled: true },
  dashboard: { enabled: true },
};

/** Without those that every installation has. */
async function kindsWith(values: object): Promise<readonly string[]> {
  const plain = new Set((await render({ chart: 'sallyport' })).map(nameOf));
  const objects = await render({ chart: 'sallyport', values: { ...values } });
  return objects.map(nameOf).filter((name) => !plain.has(name));
}

function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name}`;
}

async function servicePod(values: object = {}): Promise<PodSpec> {
  const objects = await render({ chart: 'sallyport', values: { ...values } });
  const [found] = listPods(objects).filter(({ workload }) => workload.kind === 'Deployment');
  if (found === undefined) throw new Error('there is no Deployment');
  return found.pod;
}

function specOf(objects: readonly KubernetesObject[], kind: string, name = 'sallyport') {
  return findObject(objects, kind, name)['spec'] as Readonly<Record<string, unknown>>;
}

describe.skipIf(HELM.isLeftOut)('Objects of the chart sallyport', () => {
  beforeAll(() => programPath('helm'), BUILD_TIMEOUT_MS);

  it.each([
    [{ replicas: 3 }, 'replicas is 3 without redis.addresses'],
    [{ autoscaling: { enabled: true } }, 'autoscaling without redis.addresses'],
    [{ strategy: { type: 'RollingUpdate' } }, '(surge) without redis.addresses'],
    [{ strategy: { rollingUpdate: { maxSurge: '25%' } } }, '(surge) without redis.addresses'],
  ])('refuses %j without Redis, and takes it with Redis', async (values, reason) => {
    const refused = await tryRender({ chart: 'sallyport', values });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(reason);
    await render({ chart: 'sallyport', values: { ...values, redis: REDIS } });
  });

  it('replaces the pod before it starts another without Redis, and the other way with it', async () => {
    const alone = specOf(await render({ chart: 'sallyport' }), 'Deployment');
    expect(alone['strategy']).toEqual({ type: 'Recreate' });
    const shared = await render({ chart: 'sallyport', values: { redis: REDIS, replicas: 2 } });
    expect(specOf(shared, 'Deployment')).toMatchObject({
      replicas: 2,
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
  });

  it('goes by the store of the settings, wherever it was given', async () => {
    const session = { store: 'redis', redis: { addresses: ['redis-0:6379'] } };
    const values = { replicas: 2, config: { session } };
    const spec = specOf(await render({ chart: 'sallyport', values }), 'Deployment');
    expect(spec['strategy']).toMatchObject({ type: 'RollingUpdate' });
  });

  it('has names that every kind may have, with the longest name of a release', async () => {
    const release = 'a'.repeat(53);
    for (const { kind, metadata } of await render({ chart: 'sallyport', release }))
      expect([kind, metadata.name, metadata.name.length <= 52]).toEqual([
        kind,
        metadata.name,
        true,
      ]);
  });

  it('leaves the number of replicas to the autoscaler', async () => {
    const values = { redis: REDIS, autoscaling: { enabled: true } };
    const objects = await render({ chart: 'sallyport', values });
    expect(specOf(objects, 'Deployment')).not.toHaveProperty('replicas');
    expect(specOf(objects, 'HorizontalPodAutoscaler')).toMatchObject({ minReplicas: 2 });
  });

  it.each([
    [{ podDisruptionBudget: { enabled: true } }, ['PodDisruptionBudget sallyport']],
    [{ networkPolicy: { enabled: true } }, ['NetworkPolicy sallyport']],
    [{ persistence: { enabled: true } }, ['PersistentVolumeClaim sallyport']],
    [{ persistence: { enabled: true, existingClaim: 'ours' } }, []],
    [
      { metrics: METRICS },
      [
        'ConfigMap sallyport-dashboard',
        'Service sallyport-metrics',
        'PrometheusRule sallyport',
        'ServiceMonitor sallyport',
      ],
    ],
  ])('%j adds these objects and no other', async (values, added) => {
    const rendered = await kindsWith(values);
    expect(rendered).toHaveLength(added.length);
    expect(new Set(rendered)).toEqual(new Set(added));
  });

  it('opens the network to DNS, the identity provider and Redis, and not to the metrics without metrics', async () => {
    const values = { networkPolicy: { enabled: true }, redis: REDIS };
    const spec = specOf(await render({ chart: 'sallyport', values }), 'NetworkPolicy');
    const [{ ports }] = spec['egress'] as [{ ports: { port: number }[] }];
    expect(ports.map(({ port }) => port)).toEqual([53, 53, 443, 6379, 6380]);
    expect(spec['ingress']).toEqual([{ ports: [{ port: 'http', protocol: 'TCP' }] }]);
  });

  it('has the rules and the dashboard of deploy/monitoring, as they are there', async () => {
    const objects = await render({ chart: 'sallyport', values: { metrics: METRICS } });
    const read = (file: string) => readFileSync(join(CHECKOUT, 'deploy/monitoring', file), 'utf8');
    expect(specOf(objects, 'PrometheusRule')).toEqual(parse(read('alerts.yaml')));
    const { data } = findObject(objects, 'ConfigMap', 'sallyport-dashboard');
    const { 'sallyport.json': dashboard = '' } = data as Record<string, string>;
    expect(JSON.parse(dashboard)).toEqual(JSON.parse(read('dashboard.json')));
  });

  it('refuses monitoring without metrics', async () => {
    const values = { metrics: { rules: { enabled: true } } };
    const { stderr } = await tryRender({ chart: 'sallyport', values });
    expect(stderr).toContain('need metrics.enabled');
  });

  it('drains: the pod has the delay of the configuration and 30 seconds', async () => {
    expect((await servicePod()).terminationGracePeriodSeconds).toBe(35);
    const values = { drainDelaySeconds: 12 };
    expect((await servicePod(values)).terminationGracePeriodSeconds).toBe(42);
    const objects = await render({ chart: 'sallyport', values });
    expect(JSON.stringify(findObject(objects, 'ConfigMap', 'sallyport'))).toContain(
      'drainDelay: 12s',
    );
  });

  it('listens on every address and is probed at /healthz and /readyz; the check runs first', async () => {
    const { containers, initContainers } = await servicePod();
    const [service] = containers;
    expect(service?.env).toEqual([{ name: 'SALLYPORT_LISTEN_HOST', value: '0.0.0.0' }]);
    expect(service).toMatchObject({
      livenessProbe: { httpGet: { path: '/healthz', port: 'http' } },
      readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
      ports: [{ name: 'http', containerPort: 8080 }],
    });
    expect(initContainers?.map(({ args }) => args.slice(0, 2))).toEqual([['serve', '--check']]);
    const spec = specOf(await render({ chart: 'sallyport' }), 'Service');
    expect(spec['ports']).toContainEqual({
      name: 'http',
      port: 80,
      targetPort: 'http',
      protocol: 'TCP',
    });
  });

  it('every pod of the charts and the example keeps to Pod Security "restricted", with a root that is read only', async () => {
    const pods = listPods(await render({ chart: 'platform' }));
    expect(pods.length).toBeGreaterThanOrEqual(11);
    for (const { pod } of pods) {
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of [...(pod.initContainers ?? []), ...pod.containers])
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
    }
  });

  it('replaces pods for a setting that a running service cannot take up, and for no other', async () => {
    const checksumWith = async (config: object) => {
      const objects = await render({ chart: 'sallyport', values: { config } });
      const { template } = specOf(objects, 'Deployment') as {
        template: { metadata: { annotations: Record<string, string> } };
      };
      return template.metadata.annotations['sallyport/restart-checksum'];
    };
    const plain = await checksumWith({});
    expect(await checksumWith({ session: { idleTimeout: '2h' } })).toBe(plain);
    expect(await checksumWith({ server: { workers: 2 } })).not.toBe(plain);
  });
});

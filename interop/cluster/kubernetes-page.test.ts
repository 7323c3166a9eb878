/**
 * Both charts and the example installed on a real API server, with the values of docs/kubernetes.md.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CHECKOUT } from '../../tools/build/layout.ts';
import { API_SERVER, type Cluster, openCluster } from './api-server.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import { type ChartName, install, render, tryRender } from './helm.ts';

/** The page, and what stands in its fenced blocks below a heading. */
const PAGE = readFileSync(join(CHECKOUT, 'docs/kubernetes.md'), 'utf8');
function blocksOf(heading: string, language: string): readonly string[] {
  const section = PAGE.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const fences = new RegExp(`^ *\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm');
  return [...section.matchAll(fences)].map(([, text = '']) => text.replaceAll(/^ {3}/gm, ''));
}

/** Values of the page: of the block that begins with a line. */
function valuesOf(heading: string, line: string): Record<string, unknown> {
  const text = blocksOf(heading, 'yaml').find((block) => block.startsWith(`${line}\n`));
  if (text === undefined) throw new Error(`${heading} has no ${line}`);
  return parse(text) as Record<string, unknown>;
}

const CONTROL_PLANE = valuesOf('Install', '# control-plane.yaml');
const DATA_PLANE = valuesOf('Install', '# data-plane.yaml');
const PLATFORM = valuesOf('Install', '# platform.yaml');
const RESTRICTED = Object.fromEntries(
  ['enforce', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
);

/** The namespaces of one test. */
interface Planes {
  readonly control: string;
  readonly data: string;
}

describe.skipIf(API_SERVER.isLeftOut)('docs/kubernetes.md', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await openCluster();
    await programPath('helm');
  }, BUILD_TIMEOUT_MS);

  async function makePlanes(): Promise<Planes> {
    const control = await cluster.makeNamespace(RESTRICTED, 'cloud-cp');
    return { control, data: await cluster.makeNamespace(RESTRICTED, 'cloud') };
  }

  /** Releases, each with strict validation before, and without a warning. */
  async function installBoth(
    releases: readonly (readonly [ChartName, string, Readonly<Record<string, unknown>>])[],
  ): Promise<void> {
    for (const [chart, namespace, values] of releases) {
      const rendering = { chart, namespace, release: chart, values };
      const rendered = await tryRender({ ...rendering, args: ['--no-hooks'] });
      const strict = [
        '--dry-run=server',
        '--server-side',
        '--force-conflicts',
        '--validate=strict',
      ];
      const applied = await cluster.kubectl(['apply', ...strict, '--filename=-'], rendered.stdout);
      expect([applied.code, applied.stderr]).toEqual([0, '']);
      const installed = await install(rendering, cluster.access.kubeconfig);
      expect([installed.code, installed.stderr]).toEqual([0, '']);
    }
  }

  it('its values install both charts, strictly validated and without a warning', async () => {
    const { control, data } = await makePlanes();
    await installBoth([
      ['sallyport', control, CONTROL_PLANE],
      ['sallyport-dataplane', data, DATA_PLANE],
    ]);
    const many = valuesOf('From one replica to many', 'replicas: 2');
    await installBoth([['sallyport', control, { ...CONTROL_PLANE, ...many }]]);
    const path = `/apis/apps/v1/namespaces/${control}/deployments/sallyport`;
    expect((await cluster.call('GET', path)).body['spec']).toMatchObject({ replicas: 2 });
  });

  it('all that is rendered on request installs as well, at once and by an upgrade', async () => {
    const { control, data } = await makePlanes();
    const values = {
      ...CONTROL_PLANE,
      ...valuesOf('From one replica to many', 'replicas: 2'),
      autoscaling: { enabled: true },
      networkPolicy: { enabled: true, from: [{ namespaceSelector: {} }] },
      persistence: { enabled: true },
      metrics: { enabled: true, dashboard: { enabled: true } },
    };
    await installBoth([['sallyport', control, values]]);
    await installBoth([['sallyport', data, CONTROL_PLANE]]);
    const upgrade = { chart: 'sallyport' as const, namespace: data, values };
    const upgraded = await install(upgrade, cluster.access.kubeconfig);
    expect([upgraded.code, upgraded.stderr]).toEqual([0, '']);
  });

  it('its values render the Ingress of page loads, to the console', async () => {
    const rendered = await render({ chart: 'sallyport', values: CONTROL_PLANE });
    const names = rendered
      .filter(({ kind }) => kind === 'Ingress')
      .map(({ metadata }) => metadata.name);
    expect(names).toContain('sallyport-pages');
  });

  it('a mistake in these values is refused by their schema', async () => {
    const { control } = await makePlanes();
    const values = { ...CONTROL_PLANE, replica: 2 };
    const rendering = { chart: 'sallyport' as const, namespace: control, values };
    const { code, stderr } = await install(rendering, cluster.access.kubeconfig);
    expect([code, stderr]).toEqual([1, expect.stringContaining('replica')]);
  });

  it('the notes of both charts name the commands, and the text of no stand-in', async () => {
    const planes = await makePlanes();
    const clientSecret = 'canary-7f1c';
    const values = {
      sallyport: { ...CONTROL_PLANE, secrets: { adminOauthClientCredentials: { clientSecret } } },
      'sallyport-dataplane': { ...DATA_PLANE, secrets: { admin: { create: true, clientSecret } } },
    };
    for (const chart of ['sallyport', 'sallyport-dataplane'] as const) {
      const namespace = chart === 'sallyport' ? planes.control : planes.data;
      const rendering = { chart, namespace, release: chart, values: values[chart] };
      const { code, stdout } = await install(rendering, cluster.access.kubeconfig);
      expect(code).toBe(0);
      expect(stdout).toContain(`kubectl --namespace ${namespace} patch secret`);
      expect(stdout).not.toContain(clientSecret);
    }
  });

  it('the example installs, with every service in its namespace', async () => {
    const { control, data } = await makePlanes();
    const rendering = {
      chart: 'platform' as const,
      namespace: control,
      release: 'platform',
      values: {
        ...PLATFORM,
        'sallyport-dataplane': {
          ...(PLATFORM['sallyport-dataplane'] as object),
          namespaceOverride: data,
        },
        dataPlaneNamespace: { create: false },
      },
    };
    const installed = await install(rendering, cluster.access.kubeconfig);
    expect([installed.code, installed.stderr]).toEqual([0, '']);
    const namesIn = async (namespace: string) => {
      const { body } = await cluster.call(
        'GET',
        `/apis/apps/v1/namespaces/${namespace}/deployments`,
      );
      return (body['items'] as { metadata: { name: string } }[]).map(
        ({ metadata }) => metadata.name,
      );
    };
    expect((await namesIn(control)).toSorted()).toEqual(
      ['cluster', 'executions', 'sallyport', 'scheduler', 'usage'].toSorted(),
    );
    expect((await namesIn(data)).toSorted()).toEqual(
      ['cluster-resource-sync', 'executor', 'operator', 'propeller'].toSorted(),
    );
  });
});

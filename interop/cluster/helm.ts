/**
 * Renders the charts with helm.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { CHECKOUT } from '../../tools/build/layout.ts';
import { findBuiltGoTool } from '../../tools/cluster/go-tools.ts';
import { findPart, type Part, partAt } from '../parts.ts';
import { programPath } from './go-tool.ts';

const run = promisify(execFile);

/** The Go toolchain, or a helm that it built before. */
export const HELM: Part = partAt(
  'helm',
  findBuiltGoTool('helm') ?? findPart('go').path,
  'neither it nor Go to build it is there',
);

/** A Kubernetes object as a chart renders it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [part: string]: unknown;
}

/** What a run of helm printed. */
export interface HelmOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A chart of this repository; `platform` is the example around the other two. */
export type ChartName = 'sallyport' | 'sallyport-dataplane' | 'platform';

/** The six deployment variables. */
export const GLOBAL = {
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web-app',
  CLI_CLIENT_ID: 'native-app',
  INTERNAL_CLIENT_ID: 'service-app',
  AUTH_TOKEN_URL: 'https://idp.example.com/token',
  AUTH_CLIENT_ID: 'service-app',
} as const;
const PUBLIC_URL = 'https://platform.example.com';
const IMAGE = { repository: 'registry.example.com/sallyport' } as const;

/** The values without which a chart does not render. */
const REQUIRED_VALUES: Readonly<Record<ChartName, Readonly<Record<string, unknown>>>> = {
  sallyport: { publicUrl: PUBLIC_URL, global: GLOBAL, image: IMAGE },
  'sallyport-dataplane': { publicUrl: PUBLIC_URL, global: GLOBAL },
  platform: {
    global: GLOBAL,
    sallyport: { publicUrl: PUBLIC_URL, image: IMAGE },
    'sallyport-dataplane': { publicUrl: PUBLIC_URL },
  },
};

/** Folder of a chart. */
export function chartFolder(chart: Exclude<ChartName, 'platform'>): string {
  return join(CHECKOUT, 'charts', chart);
}

/** Gives the folder of a chart; the example is copied, because helm writes the charts it depends on into it. */
async function withChart<T>(chart: ChartName, use: (folder: string) => Promise<T>): Promise<T> {
  if (chart !== 'platform') return use(chartFolder(chart));
  const root = mkdtempSync(join(tmpdir(), 'sallyport-charts-'));
  try {
    for (const folder of ['charts', 'examples/platform/chart'])
      cpSync(join(CHECKOUT, folder), join(root, folder), { recursive: true });
    const folder = join(root, 'examples/platform/chart');
    const { code, stderr } = await helm(['dependency', 'update', folder]);
    if (code !== 0) throw new Error(stderr);
    return await use(folder);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/**
 * Runs helm, with caches and settings of its own. A failure is an output like any other.
 *
 * @param kubeconfig - Of the cluster that it may ask.
 */
export async function helm(
  args: readonly string[],
  kubeconfig: string = '/nonexistent',
): Promise<HelmOutput> {
  const program = await programPath('helm');
  const home = mkdtempSync(join(tmpdir(), 'sallyport-helm-'));
  try {
    const env = {
      PATH: process.env['PATH'],
      HOME: home,
      HELM_NO_PLUGINS: '1',
      KUBECONFIG: kubeconfig,
    };
    const { stdout, stderr } = await run(program, args, { env, maxBuffer: 33_554_432 });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (typeof code !== 'number') throw error;
    return { code, stdout, stderr };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** What is rendered. */
export interface Rendering {
  readonly chart: ChartName;
  /** Added to {@link REQUIRED_VALUES}; an object at the top, such as `global`, replaces the one there. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Default `cloud-cp`. */
  readonly namespace?: string;
  /** Default `sallyport`. */
  readonly release?: string;
  /** Further arguments, such as `--api-versions`. */
  readonly args?: readonly string[];
}

/** Renders a chart as `helm template` prints it, or fails as it does. */
export function tryRender(rendering: Rendering): Promise<HelmOutput> {
  return withChartAndValues(rendering, (args) => helm(['template', ...args]));
}

/**
 * Installs or upgrades a release in a cluster, as the administrator, without waiting: no
 * controller runs there, so hooks are left out.
 */
export function install(rendering: Rendering, kubeconfig: string): Promise<HelmOutput> {
  return withChartAndValues(rendering, (args) =>
    helm(['upgrade', '--install', '--no-hooks', ...args], kubeconfig),
  );
}

/** Gives what stands behind the command: release, folder, namespace, values. */
function withChartAndValues<T>(
  { chart, values = {}, namespace = 'cloud-cp', release = 'sallyport', args = [] }: Rendering,
  use: (args: readonly string[]) => Promise<T>,
): Promise<T> {
  return withChart(chart, async (folder) => {
    const place = mkdtempSync(join(tmpdir(), 'sallyport-values-'));
    try {
      const file = join(place, 'values.json');
      writeFileSync(file, JSON.stringify({ ...REQUIRED_VALUES[chart], ...values }));
      return await use([release, folder, '--namespace', namespace, '--values', file, ...args]);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });
}

/**
 * Renders a chart and parses what comes out.
 *
 * @throws When helm fails, with what it said, or prints anything beside the objects.
 */
export async function render(rendering: Rendering): Promise<readonly KubernetesObject[]> {
  const { code, stdout, stderr } = await tryRender(rendering);
  if (code !== 0 || stderr !== '') throw new Error(stderr);
  return parseAllDocuments(stdout, { uniqueKeys: true }).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw problem;
    const object = document.toJS() as KubernetesObject | null;
    return object === null ? [] : [object];
  });
}

/** Finds the one object of a kind and name. @throws When there is none, or more than one. */
export function findObject(
  objects: readonly KubernetesObject[],
  kind: string,
  name: string,
): KubernetesObject {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name === name);
  const [object] = found;
  if (object === undefined || found.length > 1)
    throw new Error(`${found.length} objects are ${kind} ${name}`);
  return object;
}

/**
 * The two ways in which an API server comes to inject, as the chart installs them.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import { type Cluster, type KubernetesObject, openCluster } from './api-server.ts';
import { findObject, render } from './helm.ts';
import { startWebhook, type Webhook } from './webhook.ts';

/** A way that is installed. */
export interface Injection {
  /** Of the release, the data plane's. It is not made. */
  readonly namespace: string;
  /** Label of the namespaces that this one serves, and no other. */
  readonly namespaceLabel: string;
  /** Of the MutatingWebhookConfiguration or MutatingAdmissionPolicy. */
  readonly name: string;
  /** Absent with a policy. */
  readonly webhook?: Webhook;
  remove(): Promise<void>;
}

/** How it is installed. */
export interface InjectionOptions {
  readonly failurePolicy?: 'Fail' | 'Ignore';
  /** Seconds that the API server waits for a webhook. */
  readonly timeoutSeconds?: number;
  /** Label of the pods that ask for the key, where it is not the usual one. */
  readonly podLabel?: string;
}

const ACTIVE_WITHIN_MS = 30_000;
const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';

const POD_LABEL = 'sallyport/inject-api-key';
/** Labels of a pod that asks for the key. */
const SELECTED = { [POD_LABEL]: 'true' };

/**
 * Starts the command with the configuration that the chart renders, and registers it as the chart does, but for the address: a
 * Service has no endpoints where there are no nodes.
 */
export async function installWebhook(options: InjectionOptions = {}): Promise<Injection> {
  const cluster = await openCluster();
  const place = placeOf('webhook');
  const values = {
    unionAuth: { namespaceLabel: place.namespaceLabel, podLabel: options.podLabel ?? POD_LABEL },
    image: { repository: 'registry.example.com/sallyport' },
  };
  const objects = await render({
    chart: 'sallyport-dataplane',
    namespace: place.namespace,
    values: {
      ...values,
      injection: {
        ...injectionOf('webhook', options),
        webhook: { ...CERTIFICATE, timeoutSeconds: options.timeoutSeconds ?? 5 },
      },
    },
  });
  const { data } = findObject(objects, 'ConfigMap', 'sallyport-inject');
  const webhook = await startWebhook({
    configuration: (data as Record<string, string>)['sallyport.yaml'] ?? '',
  });
  const rendered = findObject(objects, 'MutatingWebhookConfiguration', place.name);
  const body = withAddress(rendered, webhook.url, webhook.certificates.authority);
  const path = `${REGISTRATION}/mutatingwebhookconfigurations`;
  const remove = async (): Promise<void> => {
    await cluster.call('DELETE', `${path}/${place.name}`);
    await webhook.stop();
  };
  await make(cluster, path, body);
  await untilActive(cluster, place.namespaceLabel, options.podLabel);
  return { ...place, webhook, remove };
}

/** Gives a webhook's configuration another place, and the authorities that may speak for it. */
export function withAddress(rendered: object, url: string, authorities: string): object {
  const configuration = structuredClone(rendered) as { webhooks: { clientConfig: object }[] };
  for (const webhook of configuration.webhooks)
    webhook.clientConfig = { url, caBundle: Buffer.from(authorities).toString('base64') };
  return configuration;
}

/** Applies the policies of the chart. */
export async function installPolicy(options: InjectionOptions = {}): Promise<Injection> {
  const cluster = await openCluster();
  const place = placeOf('policy');
  const objects = await render({
    chart: 'sallyport-dataplane',
    namespace: place.namespace,
    values: {
      unionAuth: { namespaceLabel: place.namespaceLabel, podLabel: options.podLabel ?? POD_LABEL },
      injection: injectionOf('policy', options),
    },
    args: ['--kube-version', '1.36.3'],
  });
  const policies = objects.filter(({ kind }) => kind.includes('AdmissionPolicy'));
  for (const policy of policies) await make(cluster, pathOf(policy.kind), policy);
  await untilActive(cluster, place.namespaceLabel, options.podLabel);
  return {
    ...place,
    async remove() {
      for (const { kind } of policies)
        await cluster.call('DELETE', `${pathOf(kind)}/${place.name}`);
    },
  };
}

/** The schema asks for a certificate; the test's own takes its place. */
const CERTIFICATE = {
  certificate: { caBundle: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
};

function injectionOf(mode: string, { failurePolicy = 'Fail' }: InjectionOptions) {
  return { mode, failurePolicy };
}

/** Each installation of a run has a namespace, so that their names differ, and a label of its own. */
function placeOf(mode: string) {
  const suffix = `${mode}-${randomBytes(4).toString('hex')}`;
  const namespace = `cloud-${suffix}`;
  return { namespace, name: `sallyport-inject-${namespace}`, namespaceLabel: `test/${suffix}` };
}

function pathOf(kind: string): string {
  return `${REGISTRATION}/${kind.toLowerCase().replace(/y$/, 'ie')}s`;
}

async function make(cluster: Cluster, path: string, body: object): Promise<void> {
  const { status, body: answer } = await cluster.call('POST', path, { body });
  if (status !== 201) throw new Error(`${path}: ${answer.message}`);
}

/**
 * Asks by dry runs, which leave nothing, until a pod gets both its key and a warning: an API server takes up each
 * policy and webhook after a moment of its own, and with policies the warning comes from another one than the key.
 */
async function untilActive(
  cluster: Cluster,
  namespaceLabel: string,
  podLabel = POD_LABEL,
): Promise<void> {
  const namespace = await cluster.makeNamespace({ [namespaceLabel]: 'true' }, 'probe');
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const own = { name: 'EAGER_API_KEY', value: 'its own' };
  const body = podOf(
    { containers: [{ name: 'main' }, { name: 'warned', env: [own] }] },
    { labels: { [podLabel]: 'true' } },
  );
  const limit = AbortSignal.timeout(ACTIVE_WITHIN_MS);
  for (;;) {
    const answer = await cluster.call('POST', path, { body });
    const hasKey = environmentsOf(answer.body)['main']?.length === 1;
    if (hasKey && answer.warnings.length > 0) return;
    if (limit.aborted) throw new Error(`not active: ${JSON.stringify(answer.body)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A pod that asks for the key, with a name that the API server makes. */
export function podOf(spec: object, metadata: object = {}): object {
  const withImages = Object.fromEntries(
    Object.entries(spec).map(([list, containers]) => [
      list,
      (containers as object[]).map((container) => ({ image: 'task', ...container })),
    ]),
  );
  return { metadata: { generateName: 'task-', labels: SELECTED, ...metadata }, spec: withImages };
}

/** Environment of each container by its name. */
export function environmentsOf(pod: KubernetesObject): Readonly<Record<string, readonly object[]>> {
  const spec = pod['spec'] as
    | Record<string, readonly { name: string; env?: readonly object[] }[] | undefined>
    | undefined;
  const all = [...(spec?.['initContainers'] ?? []), ...(spec?.['containers'] ?? [])];
  return Object.fromEntries(all.map(({ name, env = [] }) => [name, env]));
}

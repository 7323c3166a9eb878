/**
 * A cluster for the doctor: through `kubectl`, or manifests in a file.
 *
 * @module
 */

import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import type { Cluster, ClusterRefusal, KubeKind, KubeObject, Labels } from '@sallyport/doctor';
import { accept, type Result, refuse, withoutUnprintable } from '@sallyport/protocol';
import { parseAllDocuments } from 'yaml';
import { runKubectl } from '../cluster/kubectl-secrets.ts';
import type { ClusterProblem } from '../cluster/secret-store.ts';
import type { Failure } from '../terminal/report.ts';
import { EXIT } from '../terminal/stdio.ts';

const TERMS: FileTerms = { maxBytes: 4_194_304, mayBeLink: true, owner: 'any_user' };
/** How kubectl says that a kind is not there. */
const NOT_SERVED = /doesn't have a resource type|could not find the requested resource/;

/** The cluster of a context; empty: the current one. */
export function createKubectlCluster(context: string): Cluster {
  const chosen = [...(context === '' ? [] : ['--context', context]), '--request-timeout=15s'];
  return {
    name: context === '' ? 'the cluster' : `the cluster ${context}`,
    async list(kind, namespace, labels = {}, name = '') {
      const args =
        kind === 'pods' ? listPods(namespace, labels) : listOthers(kind, namespace, labels, name);
      const read = await runKubectl(['get', ...args, ...chosen], undefined);
      return read.ok ? accept(itemsOf(read.value)) : refuse(toRefusal(read.error));
    },
    async readVersion() {
      const read = await runKubectl(['version', '--output=json', ...chosen], undefined);
      if (!read.ok) return refuse(toRefusal(read.error));
      const { serverVersion } = read.value as { readonly serverVersion?: Members };
      const version = serverVersion?.['gitVersion'];
      return accept(typeof version === 'string' ? version : '');
    },
    async tryPod(namespace, pod) {
      const args = ['create', '--dry-run=server', '--filename=-', '--output=json'];
      const tried = await runKubectl([...args, '--namespace', namespace, ...chosen], pod, false);
      return tried.ok ? accept(tried.value as KubeObject) : refuse(toRefusal(tried.error));
    },
  };
}

type Members = Readonly<Record<string, unknown>>;

function listOthers(
  kind: KubeKind,
  namespace: string,
  labels: Labels,
  name: string,
): readonly string[] {
  const place = namespace === '' ? ['--all-namespaces'] : ['--namespace', namespace];
  const selector = toSelector(labels);
  const selected = selector === '' ? [] : [`--selector=${selector}`];
  const named = name === '' ? [] : [`--field-selector=metadata.name=${name}`];
  return [kind, ...place, ...selected, ...named, '--output=json'];
}

const PODS_MAX = 100;

/** There may be thousands, and `kubectl get` itself cannot stop at a number. */
function listPods(namespace: string, labels: Labels): readonly string[] {
  const place = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const query = new URLSearchParams({
    limit: String(PODS_MAX),
    labelSelector: toSelector(labels),
    fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed',
  });
  return ['--raw', `/api/v1${place}/pods?${query.toString()}`];
}

function toSelector(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

function toRefusal({ reason, description: words }: ClusterProblem): ClusterRefusal {
  return { reason: NOT_SERVED.test(words) ? 'not_served' : toReason(reason), words };
}

function toReason(reason: string): ClusterRefusal['reason'] {
  return reason === 'forbidden' || reason === 'unreachable' ? reason : 'failed';
}

/** The kinds that a name stands for. */
const KINDS: Readonly<Record<KubeKind, string>> = {
  'customresourcedefinitions.apiextensions.k8s.io': 'CustomResourceDefinition',
  'deployments.apps': 'Deployment',
  'endpointslices.discovery.k8s.io': 'EndpointSlice',
  'externalsecrets.external-secrets.io': 'ExternalSecret',
  'ingressclasses.networking.k8s.io': 'IngressClass',
  'ingresses.networking.k8s.io': 'Ingress',
  'mutatingadmissionpolicies.admissionregistration.k8s.io': 'MutatingAdmissionPolicy',
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': 'MutatingAdmissionPolicyBinding',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': 'MutatingWebhookConfiguration',
  namespaces: 'Namespace',
  pods: 'Pod',
  secrets: 'Secret',
  services: 'Service',
};

/** Reads manifests (YAML documents, or lists of objects as `kubectl get -o yaml` writes them). */
export function readManifests(path: string): Result<Cluster, Failure> {
  const shown = withoutUnprintable(path);
  const unusable = (found: string): Result<never, Failure> =>
    refuse({
      error: 'invalid_configuration',
      description: `${shown}: found ${found}, expected manifests of Kubernetes (YAML)`,
      hint: '',
      exitCode: EXIT.failure,
    });
  const read = readBoundedFile(path, TERMS);
  if (!read.ok) return unusable(read.error.found);
  let objects: readonly KubeObject[];
  try {
    objects = [...parseAllDocuments(read.value)].flatMap((document) => {
      if ('errors' in document && document.errors.length > 0) throw new SyntaxError();
      return itemsOf(document.toJS({ maxAliasCount: 0 }));
    });
  } catch {
    return unusable('a text that is no YAML');
  }
  return accept({
    name: shown,
    list: async (kind, namespace, labels = {}, name = '') =>
      accept(
        objects.filter((object) => {
          const metadata = object['metadata'] as Metadata | undefined;
          return (
            object['kind'] === KINDS[kind] &&
            (name === '' || metadata?.name === name) &&
            (namespace === '' || (metadata?.namespace ?? namespace) === namespace) &&
            Object.entries(labels).every(([key, value]) => metadata?.labels?.[key] === value)
          );
        }),
      ),
  });
}

interface Metadata {
  readonly name?: unknown;
  readonly namespace?: unknown;
  readonly labels?: Readonly<Record<string, unknown>>;
}

function itemsOf(value: unknown): readonly KubeObject[] {
  if (typeof value !== 'object' || value === null) return [];
  const { items } = value as { readonly items?: unknown };
  return Array.isArray(items) ? items.flatMap(itemsOf) : [value as KubeObject];
}

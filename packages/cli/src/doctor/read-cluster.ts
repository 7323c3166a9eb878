/**
 * A cluster for the doctor: through `kubectl`, or manifests in a file.
 *
 * @module
 */

import { type FileTerms, readBoundedFile } from '@sallyport/config/files';
import type { Cluster, ClusterRefusal, KubeObject } from '@sallyport/doctor';
import { accept, type Result, refuse, withoutUnprintable } from '@sallyport/protocol';
import { parseAllDocuments } from 'yaml';
import { runKubectl } from '../cluster/kubectl-secrets.ts';
import type { Failure } from '../terminal/report.ts';
import { EXIT } from '../terminal/stdio.ts';

const TERMS: FileTerms = { maxBytes: 4_194_304, mayBeLink: true, owner: 'any_user' };
/** How kubectl says that a kind is not there. */
const NOT_SERVED = /doesn't have a resource type|could not find the requested resource/;

/** The cluster of a context; empty: the current one. */
export function createKubectlCluster(context: string): Cluster {
  const chosen = context === '' ? [] : ['--context', context];
  return {
    name: context === '' ? 'the cluster' : `the cluster ${context}`,
    async list(kind, namespace) {
      const args = ['get', kind, ...chosen, '--namespace', namespace, '--output=json'];
      const read = await runKubectl([...args, '--request-timeout=15s'], undefined);
      if (read.ok) return accept(itemsOf(read.value));
      const { reason, description } = read.error;
      const isUnknown = NOT_SERVED.test(description);
      return refuse<ClusterRefusal>({
        reason: isUnknown ? 'not_served' : toReason(reason),
        words: description,
      });
    },
  };
}

function toReason(reason: string): ClusterRefusal['reason'] {
  return reason === 'forbidden' || reason === 'unreachable' ? reason : 'failed';
}

/** The API groups that a name of a kind stands for. */
const KINDS: Readonly<Record<string, string>> = {
  secrets: 'Secret',
  'externalsecrets.external-secrets.io': 'ExternalSecret',
  'ingresses.networking.k8s.io': 'Ingress',
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
    list: async (kind, namespace) =>
      accept(
        objects.filter((object) => {
          const metadata = object['metadata'] as Readonly<Record<string, unknown>> | undefined;
          return (
            object['kind'] === KINDS[kind] && (metadata?.['namespace'] ?? namespace) === namespace
          );
        }),
      ),
  });
}

function itemsOf(value: unknown): readonly KubeObject[] {
  if (typeof value !== 'object' || value === null) return [];
  const { items } = value as { readonly items?: unknown };
  return Array.isArray(items) ? items.flatMap(itemsOf) : [value as KubeObject];
}

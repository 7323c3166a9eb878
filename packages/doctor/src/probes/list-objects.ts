/**
 * Objects of a cluster for a probe.
 *
 * @module
 */

import {
  type ClusterSubject,
  EVERYWHERE,
  type KubeKind,
  type KubeObject,
  type Labels,
} from '../cluster.ts';
import { fail } from '../finding/finding.ts';
import { broken, found, type Outcome, skipped } from '../graph/probe.ts';

/** Reads a kind; a right that is missing is said, and is no fault of the platform. */
export async function listObjects(
  { cluster }: ClusterSubject,
  kind: KubeKind,
  namespace: string,
  labels?: Labels,
  name?: string,
): Promise<Outcome<readonly KubeObject[]>> {
  const listed = await cluster.list(kind, namespace, labels, name);
  if (listed.ok) return found(listed.value);
  const { reason, words } = listed.error;
  switch (reason) {
    case 'forbidden':
      return skipped(`may not list ${kind}${namespace === EVERYWHERE ? '' : ` in ${namespace}`}`);
    case 'not_served':
      return skipped(`${cluster.name} has no ${kind}`);
    case 'unreachable':
    case 'failed':
      return broken(
        fail(
          'cluster_unreachable',
          `${cluster.name} cannot be read`,
          'Look at kubectl get secrets with the same context; or write manifests to a file and use --manifests.',
          [words],
        ),
      );
  }
}

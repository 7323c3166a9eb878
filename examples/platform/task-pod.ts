/**
 * What the executor does for a task: it makes the pod, with the API key injected.
 *
 * @module
 */

import { readClientConfig } from '@sallyport/config';
import { injectApiKey, labelTaskPod } from '@sallyport/kubernetes/inject';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { DATA_PLANE_NAMESPACE } from './actors.ts';

/** A pod that Kubernetes can be asked to create. */
export interface MadePod {
  readonly pod: object;
  /** What the injection did; `injected` when the pod got the variable. */
  readonly outcome: string;
  readonly warnings: readonly string[];
}

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'task-pod', namespace: DATA_PLANE_NAMESPACE },
  spec: { containers: [{ name: 'task', image: 'task:1' }], restartPolicy: 'Always' },
};

/**
 * Makes the task pod as the block `unionAuth` of the executor's file says.
 *
 * @param namespaceLabels - From the cluster, never from the author of the task.
 */
export function makeTaskPod(
  file: { readonly path: string; readonly text: string },
  namespaceLabels: Readonly<Record<string, string>>,
): Result<MadePod, string> {
  const { unionAuth } = readClientConfig({
    file,
    env: {},
    flags: {},
    variables: new Map(),
  }).config;
  const labelled = labelTaskPod(POD, unionAuth);
  if (!labelled.ok) return refuse(labelled.error);
  const injected = injectApiKey(labelled.value.pod, namespaceLabels, unionAuth);
  if (!injected.ok) return refuse(injected.error);
  const { pod, outcome, warnings } = injected.value;
  return accept({
    pod,
    outcome,
    warnings: warnings.map(({ reason, path }) => `${path}: ${reason}`),
  });
}

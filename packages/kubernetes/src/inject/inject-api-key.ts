/**
 * Adds the API key to a task pod (requirement, "In-pod secret injection" and "Client credentials", row 5).
 *
 * @module
 */

import {
  API_KEY_VARIABLE,
  type ApiKeySecretRefusal,
  accept,
  findApiKeySecret,
  type Result,
  refuse,
} from '@sallyport/protocol';
import { CONTAINER_LISTS } from './container-lists.ts';
import { addVariable } from './container-variable.ts';
import type { InjectionWarning } from './injection-warning.ts';
import { isAbsent, isJsonObject, type JsonObject, memberOf } from './json-object.ts';

export type { InjectionWarning } from './injection-warning.ts';

/** The block `unionAuth` of the configuration. */
export interface InjectionSettings {
  /** `false` leaves every pod as it is. */
  readonly injectSecret: boolean;
  /** Key in the Secret; in lower case with `-` for `_` it is the Secret's name. */
  readonly secretName: string;
  /** Label of the pods that get the key, with the value `true`. */
  readonly podLabel: string;
  /** Label of the namespaces whose pods may get it, with the value `true`. */
  readonly namespaceLabel: string;
}

/** What became of a pod. */
export interface Injection<Pod> {
  /** The same object unless `outcome` is `injected`; then a copy that shares all that did not change. */
  readonly pod: Pod;
  /**
   * `injected`: at least one container got the variable. `unchanged`: the pod is selected, and every container
   * has the variable already, or a value of its own, or cannot have one. The rest: it is not selected, and why.
   */
  readonly outcome:
    | 'injected'
    | 'unchanged'
    | 'switched_off'
    | 'pod_not_labelled'
    | 'namespace_not_labelled';
  /** In the order of the containers; empty for a pod that is not selected. */
  readonly warnings: readonly InjectionWarning[];
}

/** Why a selected pod cannot get the key: `secretName` gives no legal Secret. */
export type InjectionRefusal = ApiKeySecretRefusal;

/**
 * Adds the environment variable `EAGER_API_KEY` to the containers, init containers and sidecars of a pod, by
 * `secretKeyRef` with `optional: false`: without the Secret a pod waits, with the name of the Secret in its
 * events, instead of starting without a key. Doing it twice is the same as doing it once.
 *
 * A value that a container has already is kept, with a warning. Does not check that the Secret is there,
 * nor what `envFrom` brings along (Kubernetes lets `env` win over it), nor that Kubernetes would take the pod:
 * what is not shaped like a part of a pod stays as it is, with a warning.
 *
 * @param pod - The pod before its creation, as JSON. Untrusted; never changed.
 * @param namespaceLabels - Labels of the pod's namespace as the cluster has them, never as the pod's author
 *   says: they decide which teams may have the key.
 */
export function injectApiKey<Pod extends object>(
  pod: Pod,
  namespaceLabels: Readonly<Record<string, string>> | undefined,
  settings: InjectionSettings,
): Result<Injection<Pod>, InjectionRefusal> {
  const leave = (outcome: Injection<Pod>['outcome']): Result<Injection<Pod>, never> =>
    accept({ pod, outcome, warnings: [] });
  if (!settings.injectSecret) return leave('switched_off');
  const podLabels = memberOf(memberOf(pod, 'metadata'), 'labels');
  if (memberOf(podLabels, settings.podLabel) !== 'true') return leave('pod_not_labelled');
  if (memberOf(namespaceLabels, settings.namespaceLabel) !== 'true')
    return leave('namespace_not_labelled');
  const secret = findApiKeySecret(settings.secretName);
  if (!secret.ok) return refuse(secret.error);

  const spec = memberOf(pod, 'spec');
  if (!isJsonObject(spec))
    return accept({
      pod,
      outcome: 'unchanged',
      warnings: [{ reason: 'not_an_object', path: 'spec' }],
    });
  const entry = {
    name: API_KEY_VARIABLE,
    valueFrom: { secretKeyRef: { ...secret.value, optional: false } },
  };
  const warnings: InjectionWarning[] = [];
  const changed: Record<string, readonly unknown[]> = {};
  for (const list of CONTAINER_LISTS) {
    const containers = addToEach(memberOf(spec, list), entry, `spec.${list}`, warnings);
    if (containers !== undefined) changed[list] = containers;
  }
  return Object.keys(changed).length === 0
    ? accept({ pod, outcome: 'unchanged', warnings })
    : accept({ pod: { ...pod, spec: { ...spec, ...changed } }, outcome: 'injected', warnings });
}

/** The list with the entry in each container, or nothing when no container changed. */
function addToEach(
  containers: unknown,
  entry: JsonObject,
  path: string,
  warnings: InjectionWarning[],
): readonly unknown[] | undefined {
  if (isAbsent(containers)) return undefined;
  if (!Array.isArray(containers)) {
    warnings.push({ reason: 'not_a_list', path });
    return undefined;
  }
  let isChanged = false;
  const after = Array.from(containers, (container: unknown, index) => {
    const added = addVariable(container, entry, `${path}[${index}]`, warnings);
    isChanged ||= added !== container;
    return added;
  });
  return isChanged ? after : undefined;
}

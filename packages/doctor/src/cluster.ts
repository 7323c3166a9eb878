/**
 * A cluster as probes read it: by `kubectl`, or manifests in a file.
 *
 * @module
 */

import type { Result } from '@sallyport/protocol';

/** An object of Kubernetes as JSON. Untrusted. */
export type KubeObject = Readonly<Record<string, unknown>>;

/** Kinds that are read, as `kubectl get` names them. */
export type KubeKind =
  | 'customresourcedefinitions.apiextensions.k8s.io'
  | 'deployments.apps'
  | 'endpointslices.discovery.k8s.io'
  | 'externalsecrets.external-secrets.io'
  | 'ingressclasses.networking.k8s.io'
  | 'ingresses.networking.k8s.io'
  | 'mutatingadmissionpolicies.admissionregistration.k8s.io'
  | 'mutatingadmissionpolicybindings.admissionregistration.k8s.io'
  | 'mutatingwebhookconfigurations.admissionregistration.k8s.io'
  | 'namespaces'
  | 'pods'
  | 'secrets'
  | 'services';

/** For kinds without a namespace, and for objects of every namespace. */
export const EVERYWHERE = '';

/** Why there are none. */
export interface ClusterRefusal {
  /** `not_served`: the cluster knows no such kind. */
  readonly reason: 'failed' | 'forbidden' | 'not_served' | 'unreachable';
  /** For evidence; untrusted. */
  readonly words: string;
}

/** Reads objects. Changes nothing. */
export interface Cluster {
  /** Completes "in …". */
  readonly name: string;
  /**
   * Objects of a namespace.
   *
   * @param labels - Objects that have all of these alone; of pods a hundred at most, which have not ended.
   * @param name - The object of this name alone.
   */
  list(
    kind: KubeKind,
    namespace: string,
    labels?: Labels,
    name?: string,
  ): Promise<Result<readonly KubeObject[], ClusterRefusal>>;
  /** Version of the API server, such as `v1.36.3`. Absent where there are files alone. */
  readonly readVersion?: () => Promise<Result<string, ClusterRefusal>>;
  /** What would come of a pod, by a dry run that leaves none. Absent where there are files alone. */
  readonly tryPod?: (
    namespace: string,
    pod: KubeObject,
  ) => Promise<Result<KubeObject, ClusterRefusal>>;
}

/** Labels of an object, or labels that are looked for. */
export type Labels = Readonly<Record<string, string>>;

/** What is looked at in it. */
export interface ClusterSubject {
  readonly cluster: Cluster;
  readonly controlPlane: string;
  readonly dataPlane: string;
}

/** A member along a path; `undefined` where there is none. */
export function at(object: unknown, ...path: readonly string[]): unknown {
  let value = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** A text along a path; empty where there is none. */
export function textAt(object: unknown, ...path: readonly string[]): string {
  const value = at(object, ...path);
  return typeof value === 'string' ? value : '';
}

/** The entries of a list along a path. */
export function listAt(object: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.slice(0, 1_000) : [];
}

/** The labels along a path; what is no text is left out. */
export function labelsAt(object: unknown, ...path: readonly string[]): Labels {
  const value = at(object, ...path);
  if (typeof value !== 'object' || value === null) return {};
  const entries = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries);
}

/** Namespace and name of an object, for words. */
export function nameOf(object: KubeObject): string {
  const namespace = textAt(object, 'metadata', 'namespace');
  const name = textAt(object, 'metadata', 'name');
  return namespace === '' ? name : `${namespace}/${name}`;
}

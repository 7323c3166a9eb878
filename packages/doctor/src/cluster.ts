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
  | 'externalsecrets.external-secrets.io'
  | 'ingresses.networking.k8s.io'
  | 'secrets';

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
  list(kind: KubeKind, namespace: string): Promise<Result<readonly KubeObject[], ClusterRefusal>>;
}

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

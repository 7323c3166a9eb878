/**
 * What rendered workloads mount.
 *
 * @module
 */

import type { KubernetesObject } from './helm.ts';

/** A mount of a container. */
interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
}

/** The parts of a pod that a chart renders and tests look at. */
export interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly serviceAccountName?: string;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly terminationGracePeriodSeconds?: number;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string };
    readonly configMap?: { readonly name: string };
  }[];
}

/** A container of {@link PodSpec}. */
export interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly VolumeMount[];
  readonly [part: string]: unknown;
}

/** A Secret that a workload mounts. */
export interface SecretMount {
  readonly secret: string;
  readonly mountPath: string;
  readonly workload: string;
  readonly namespace: string;
  /** Whether it is mounted as a folder, and so follows the Secret. */
  readonly isFolder: boolean;
}

/** The workloads with their pods: Deployments, Jobs and CronJobs. */
export function listPods(
  objects: readonly KubernetesObject[],
): readonly { readonly workload: KubernetesObject; readonly pod: PodSpec }[] {
  return objects.flatMap((workload) => {
    const spec = workload['spec'] as Template & { readonly jobTemplate?: { spec: Template } };
    const template = spec?.template ?? spec?.jobTemplate?.spec.template;
    return template === undefined || !('containers' in (template.spec ?? {}))
      ? []
      : [{ workload, pod: template.spec }];
  });
}

interface Template {
  readonly template?: { readonly spec: PodSpec };
}

/** Every mount of a Secret, once for each workload. */
export function listSecretMounts(objects: readonly KubernetesObject[]): readonly SecretMount[] {
  return listPods(objects).flatMap(({ workload, pod }) => {
    const mounts = pod.containers.flatMap(({ volumeMounts }) => volumeMounts);
    return pod.volumes.flatMap(({ name, secret }) =>
      secret === undefined
        ? []
        : mounts
            .filter((mount) => mount.name === name)
            .map(({ mountPath, subPath, subPathExpr }) => ({
              secret: secret.secretName,
              mountPath,
              workload: workload.metadata.name,
              namespace: workload.metadata.namespace ?? '',
              isFolder: subPath === undefined && subPathExpr === undefined,
            })),
    );
  });
}

/**
 * The environment of a container, as a kubelet makes it from a pod and the Secrets of its namespace.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { secretFolder } from './pod-folders.ts';

/** The parts of a pod that are read. */
interface Pod {
  readonly metadata: { readonly namespace: string };
  readonly spec: {
    readonly containers: readonly {
      readonly env?: readonly {
        readonly name: string;
        readonly valueFrom: {
          readonly secretKeyRef: { readonly name: string; readonly key: string };
        };
      }[];
    }[];
  };
}

/**
 * Reads the variables of the first container, all of them from Secrets.
 *
 * @param pod - As the executor made it.
 * @returns Otherwise why the container cannot be started, in the kubelet's words.
 */
export function readContainerEnvironment(
  platform: string,
  pod: object,
): Result<Readonly<Record<string, string>>, string> {
  const { metadata, spec } = pod as Pod;
  const environment: Record<string, string> = {};
  for (const { name, valueFrom } of spec.containers[0]?.env ?? []) {
    const { secretKeyRef } = valueFrom;
    const folder = secretFolder(platform, metadata.namespace, secretKeyRef.name);
    try {
      environment[name] = readFileSync(join(folder, secretKeyRef.key), 'utf8');
    } catch {
      return refuse(
        `CreateContainerConfigError: no key ${secretKeyRef.key} in the Secret ${secretKeyRef.name} of the namespace ${metadata.namespace}`,
      );
    }
  }
  return accept(environment);
}

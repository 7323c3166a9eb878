/**
 * The difference that an injection makes, as JSON Patch.
 *
 * @module
 */

import { CONTAINER_LISTS } from '../inject/container-lists.ts';
import { memberOf } from '../inject/json-object.ts';

/** One operation of RFC 6902; an injection only adds. */
export interface PatchOperation {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

/**
 * Writes what `injectApiKey` added to containers, and nothing else: a webhook that writes the whole pod would take back
 * what another one adds at the same time, and fields of a newer Kubernetes that it does not know.
 *
 * @param before - The pod that was given to it.
 * @param after - The pod that it gave back.
 * @see [RFC 6902 section 4.1](https://www.rfc-editor.org/rfc/rfc6902#section-4.1) add
 */
export function formatEnvironmentPatch(before: object, after: object): readonly PatchOperation[] {
  const operations: PatchOperation[] = [];
  for (const list of CONTAINER_LISTS) {
    const earlier = listOf(before, list);
    for (const [index, container] of listOf(after, list).entries()) {
      if (container === earlier[index]) continue;
      const path = `/spec/${list}/${index}/env`;
      const env = memberOf(container, 'env');
      if (!Array.isArray(env)) continue;
      operations.push(
        Array.isArray(memberOf(earlier[index], 'env'))
          ? { op: 'add', path: `${path}/-`, value: env.at(-1) }
          : { op: 'add', path, value: env },
      );
    }
  }
  return operations;
}

function listOf(pod: object, list: string): readonly unknown[] {
  const containers = memberOf(memberOf(pod, 'spec'), list);
  return Array.isArray(containers) ? containers : [];
}

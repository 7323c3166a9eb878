/**
 * The option `--secret`: which Kubernetes Secret a command means.
 *
 * @module
 */

import { InvalidArgumentError } from 'commander';
import { isObjectName } from '../cluster/secret-store.ts';

/** A Secret. */
export interface SecretPlace {
  /** `undefined`: the pod's own, or that of kubectl's current context. */
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Reads `NAMESPACE/NAME` or `NAME`. @throws {InvalidArgumentError} When it is neither. */
export function parseSecretPlace(text: string): SecretPlace {
  const [first = '', second, more] = text.split('/');
  const [namespace, name] = second === undefined ? [undefined, first] : [first, second];
  if (more !== undefined || !isObjectName(name) || !isObjectName(namespace ?? name))
    throw new InvalidArgumentError('a Secret is NAMESPACE/NAME or NAME');
  return { namespace, name };
}

/** As it was given. */
export function formatSecretPlace({ namespace, name }: SecretPlace): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/**
 * Secrets of a Kubernetes namespace, whichever way they are reached.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';

/** JSON object of which nothing is known. */
export type Manifest = Readonly<Record<string, unknown>>;

/** A Secret as it was read. */
export interface ClusterSecret {
  readonly name: string;
  readonly namespace: string;
  /** Names this content: {@link SecretStore.update} replaces no other. */
  readonly resourceVersion: string;
  /** Decoded. The values are secret. */
  readonly data: ReadonlyMap<string, Buffer>;
  /** The whole object, so that an update keeps its labels, annotations and owner. */
  readonly manifest: Manifest;
}

/** Content of a Secret by key. */
export type SecretData = ReadonlyMap<string, Uint8Array>;

/** Why nothing came of a call. */
export interface ClusterProblem {
  /**
   * `conflict`: another writer was faster; read again. `unauthorized`: the API server does not know the caller.
   * `forbidden`: RBAC. `unreachable`: no answer. `failed`: all else.
   */
  readonly reason:
    | 'not_found'
    | 'already_exists'
    | 'conflict'
    | 'unauthorized'
    | 'forbidden'
    | 'unreachable'
    | 'failed';
  /** One sentence with the API server's own words, safe to show: holds no value of a Secret. */
  readonly description: string;
}

/** Reads and writes Secrets of one namespace. Each call is sent once, and none takes longer than a minute. */
export interface SecretStore {
  /** For messages: the address of the API server, or `kubectl`. */
  readonly place: string;
  read(name: string): Promise<Result<ClusterSecret, ClusterProblem>>;
  /**
   * Creates an Opaque Secret.
   *
   * @returns `already_exists` when there is one, whatever it holds.
   */
  create(
    name: string,
    data: SecretData,
    labels?: Readonly<Record<string, string>>,
  ): Promise<Result<ClusterSecret, ClusterProblem>>;
  /**
   * Replaces the data of a Secret that was read, and nothing else of it.
   *
   * @returns `conflict` when it has changed since.
   */
  update(secret: ClusterSecret, data: SecretData): Promise<Result<ClusterSecret, ClusterProblem>>;
}

/** Longest name of an object; RFC 1123 subdomain. */
const NAME_MAX = 253;
const NAME = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;

/** Whether a text is a name that an object may have. It then means nothing else in a URL or an argument. */
export function isObjectName(text: string): boolean {
  return text.length <= NAME_MAX && NAME.test(text);
}

/** Looks at a name before it becomes a part of a URL or an argument. */
export function checkObjectName(name: string): Result<string, ClusterProblem> {
  return isObjectName(name)
    ? accept(name)
    : refuse({ reason: 'failed', description: `${JSON.stringify(name)} is no name of a Secret` });
}

/**
 * Makes the object that creates a Secret.
 *
 * @param namespace - `undefined` leaves the choice to the program that sends it.
 */
export function makeSecretManifest(
  name: string,
  namespace: string | undefined,
  data: SecretData,
  labels: Readonly<Record<string, string>> = {},
): Manifest {
  const place = namespace === undefined ? {} : { namespace };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, ...place, labels },
    type: 'Opaque',
    data: encode(data),
  };
}

/** Makes the object that replaces the data of a Secret; its `resourceVersion` stands in it. */
export function replaceSecretData({ manifest }: ClusterSecret, data: SecretData): Manifest {
  return { ...manifest, data: encode(data) };
}

/** Reads a Secret from the API server's JSON. */
export function parseSecret(manifest: unknown): Result<ClusterSecret, ClusterProblem> {
  const metadata = memberOf(manifest, 'metadata');
  const [name, namespace, resourceVersion] = ['name', 'namespace', 'resourceVersion'].map(
    (member) => memberOf(metadata, member),
  );
  const encoded = memberOf(manifest, 'data') ?? {};
  if (
    !isObject(manifest) ||
    manifest['kind'] !== 'Secret' ||
    typeof name !== 'string' ||
    typeof namespace !== 'string' ||
    typeof resourceVersion !== 'string' ||
    !isObject(encoded)
  )
    return refuse({ reason: 'failed', description: 'the answer is no Secret' });
  const data = new Map<string, Buffer>();
  for (const [key, value] of Object.entries(encoded)) {
    if (typeof value !== 'string')
      return refuse({
        reason: 'failed',
        description: 'the answer is no Secret: its data is no text',
      });
    data.set(key, Buffer.from(value, 'base64'));
  }
  return accept({ name, namespace, resourceVersion, data, manifest });
}

/** A member of a JSON object itself; nothing that is inherited. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isObject(value: unknown): value is Manifest {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function encode(data: SecretData): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from(data, ([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
}

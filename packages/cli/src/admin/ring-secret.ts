/**
 * The key ring as a Kubernetes Secret, which all replicas mount: made once, and rotated by adding a key.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import { addRingKey, createRing, parseRing } from '@sallyport/server';
import { openSecrets } from '../cluster/open-secrets.ts';
import type {
  ClusterProblem,
  ClusterSecret,
  SecretData,
  SecretStore,
} from '../cluster/secret-store.ts';

/** Key of the Secret that holds the ring; the file that replicas read has the same name. */
const RING_FILE = 'key-ring.json';

/** Who writes the same Secret meanwhile has finished by then. */
const ATTEMPTS = 20;
const LABELS = { 'app.kubernetes.io/part-of': 'sallyport' };

/**
 * Opens the Secrets of a namespace, as the pod's service account or by kubectl.
 *
 * @param namespace - `undefined`: the pod's own, or that of kubectl's current context.
 *
 * @throws {SallyportError} `SP_KEY_RING_UNUSABLE` when the pod's service account cannot be read.
 */
export function openSecretStore(
  namespace: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): SecretStore {
  const opened = openSecrets({ namespace }, environment);
  if (opened.ok) return opened.value;
  throw new SallyportError('SP_KEY_RING_UNUSABLE', { component: 'key-ring', detail: opened.error });
}

/**
 * Makes the Secret with a ring of one key, unless it is there. One that is there is never changed.
 *
 * @returns Whether it was made.
 * @throws {SallyportError} `SP_KEY_RING_UNUSABLE` when it can be neither made nor read, or holds no ring.
 */
export async function createRingSecret(
  store: SecretStore,
  name: string,
  now: number,
): Promise<boolean> {
  const found = await store.read(name);
  if (!found.ok && found.error.reason === 'not_found') {
    const created = await store.create(name, withRing(createRing(now)), LABELS);
    if (created.ok) return true;
    if (created.error.reason !== 'already_exists') throw unreachable(store, name, created.error);
    checkRing(await read(store, name));
    return false;
  }
  if (!found.ok) throw unreachable(store, name, found.error);
  checkRing(found.value);
  return false;
}

/**
 * Adds a key to the ring in a Secret, as `rotateKeyRingFile` does in a file. What another writer adds meanwhile stays: the
 * Secret is read again and the key added to that.
 *
 * @param longestSealedMs - The absolute session lifetime.
 *
 * @returns The new key's id.
 * @throws {SallyportError} `SP_KEY_RING_UNUSABLE` when the Secret is missing, cannot be read or written, or holds no ring.
 */
export async function rotateRingSecret(
  store: SecretStore,
  name: string,
  now: number,
  longestSealedMs: number,
): Promise<string> {
  let conflict: ClusterProblem | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const secret = await read(store, name);
    const { text, kid } = addKey(secret, now, longestSealedMs);
    const updated = await store.update(secret, withRing(text, secret.data));
    if (updated.ok) return kid;
    conflict = updated.error;
    if (conflict.reason !== 'conflict') break;
  }
  throw unreachable(store, name, conflict);
}

async function read(store: SecretStore, name: string): Promise<ClusterSecret> {
  const found = await store.read(name);
  if (!found.ok) throw unreachable(store, name, found.error);
  return found.value;
}

/** The other keys of the Secret stay. */
function withRing(text: string, others: SecretData = new Map()): SecretData {
  return new Map([...others, [RING_FILE, Buffer.from(text)]]);
}

function ringOf({ name, data }: ClusterSecret): string {
  const ring = data.get(RING_FILE);
  if (ring === undefined) throw unusable(name, `it has no key ${RING_FILE}`);
  return ring.toString('utf8');
}

function checkRing(secret: ClusterSecret): void {
  try {
    parseRing(ringOf(secret));
  } catch (error) {
    throw toUnusable(secret, error);
  }
}

function addKey(secret: ClusterSecret, now: number, longestSealedMs: number) {
  try {
    return addRingKey(ringOf(secret), now, longestSealedMs);
  } catch (error) {
    throw toUnusable(secret, error);
  }
}

/** The parser's own words never show content. */
function toUnusable({ name }: ClusterSecret, error: unknown): Error {
  if (error instanceof SallyportError) return error;
  return unusable(name, error instanceof Error ? error.message : 'unreadable');
}

function unreachable(store: SecretStore, name: string, problem?: ClusterProblem): SallyportError {
  return unusable(name, `${store.place}: ${problem?.description ?? 'no answer'}`);
}

function unusable(name: string, why: string): SallyportError {
  return new SallyportError('SP_KEY_RING_UNUSABLE', {
    component: 'key-ring',
    detail: `the Secret ${name} cannot be used: ${why}`,
  });
}

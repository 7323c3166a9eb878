/**
 * Secrets by the API server, from inside a pod.
 *
 * @module
 */

import { isIP } from 'node:net';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { findNetworkCause } from '../terminal/network-cause.ts';
import { readPodAccount } from './pod-account.ts';
import {
  type ClusterProblem,
  checkObjectName,
  type Manifest,
  makeSecretManifest,
  memberOf,
  parseSecret,
  replaceSecretData,
  type SecretStore,
} from './secret-store.ts';
import { withoutSecrets } from './without-secrets.ts';

/** What {@link createApiSecrets} needs. */
export interface ApiSecretsOptions {
  /** The mounted service account; read again for each call. */
  readonly accountFolder: string;
  readonly namespace: string;
  /** Address of the API server, as {@link findApiServer} gives it. */
  readonly origin: string;
}

/** A whole call, connection and answer included. */
const CALL_MS = 15_000;
const CONNECT_MS = 5_000;
/** A Secret is 1 MiB at most, in base64, with what stands around it. */
const ANSWER_MAX_BYTES = 4_194_304;

/** By the word of the API server, else by the status. */
const REASONS: ReadonlyMap<string, ClusterProblem['reason']> = new Map([
  ['NotFound', 'not_found'],
  ['AlreadyExists', 'already_exists'],
  ['Conflict', 'conflict'],
  ['Unauthorized', 'unauthorized'],
  ['401', 'unauthorized'],
  ['Forbidden', 'forbidden'],
  ['403', 'forbidden'],
]);

/** Puts the API server's word for a failure into one of ours. */
export function reasonOf(word: string): ClusterProblem['reason'] {
  return REASONS.get(word) ?? 'failed';
}

/**
 * Address of the API server, from the variables that Kubernetes gives every container.
 *
 * @returns `undefined` where they are not there, or name no address.
 */
export function findApiServer(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = environment;
  if (host === '' || !/^\d{1,5}$/.test(port)) return undefined;
  const written = isIP(host) === 6 ? `[${host}]` : host;
  const url = URL.parse(`https://${written}:${port}`);
  return url === null || url.href !== `${url.origin}/` ? undefined : url.origin;
}

/**
 * Secrets of one namespace, with the pod's own token. The certificate of the API server is verified against the mounted
 * authority alone; redirects and proxies are not followed.
 */
export function createApiSecrets({
  accountFolder,
  namespace,
  origin,
}: ApiSecretsOptions): SecretStore {
  const all = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
  const one = (name: string): string => `${all}/${encodeURIComponent(name)}`;
  return {
    place: origin,
    async read(name) {
      const checked = checkObjectName(name);
      return checked.ok ? parse(await call('GET', one(name))) : checked;
    },
    create: async (name, data, labels) =>
      parse(await call('POST', all, makeSecretManifest(name, namespace, data, labels))),
    update: async (secret, data) =>
      parse(await call('PUT', one(secret.name), replaceSecretData(secret, data))),
  };

  async function call(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: Manifest,
  ): Promise<Result<unknown, ClusterProblem>> {
    const account = readPodAccount(accountFolder);
    if (!account.ok) return refuse({ reason: 'failed', description: account.error });
    const { token, authority } = account.value;
    // The built-in fetch takes no authority for one call alone.
    const { Agent, request } = await import('undici');
    const agent = new Agent({
      connect: { ca: authority, timeout: CONNECT_MS },
      maxResponseSize: ANSWER_MAX_BYTES,
    });
    try {
      const answer = await request(`${origin}${path}`, {
        method,
        dispatcher: agent,
        signal: AbortSignal.timeout(CALL_MS),
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return readAnswer(answer.statusCode, await answer.body.text(), body);
    } catch (cause) {
      const why = findNetworkCause(cause)?.why ?? 'no answer';
      return refuse({
        reason: 'unreachable',
        description: `the API server at ${origin}: ${why}`,
      });
    } finally {
      await agent.destroy();
    }
  }
}

function parse(answer: Result<unknown, ClusterProblem>) {
  return answer.ok ? parseSecret(answer.value) : answer;
}

function readAnswer(
  status: number,
  text: string,
  sent: Manifest | undefined,
): Result<unknown, ClusterProblem> {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    const description = `the API server answered ${status} without JSON`;
    return refuse({ reason: reasonOf(String(status)), description });
  }
  if (status === 200 || status === 201) return accept(answer);
  const [word, message] = [memberOf(answer, 'reason'), memberOf(answer, 'message')];
  const said = typeof message === 'string' ? message : 'no message';
  return refuse({
    reason: reasonOf(typeof word === 'string' ? word : String(status)),
    description: `the API server answered ${status}: ${withoutSecrets(said, sent)}`,
  });
}

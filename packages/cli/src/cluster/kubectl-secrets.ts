/**
 * Secrets by `kubectl`, from outside a cluster: with its configuration, its credentials and its way there.
 *
 * @module
 */

import { spawn } from 'node:child_process';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { reasonOf } from './api-secrets.ts';
import {
  type ClusterProblem,
  checkObjectName,
  type Manifest,
  makeSecretManifest,
  parseSecret,
  replaceSecretData,
  type SecretStore,
} from './secret-store.ts';
import { withoutSecrets } from './without-secrets.ts';

/** A whole run; a credential plugin may ask a person. */
const RUN_MS = 60_000;
const REQUEST_TIMEOUT = '--request-timeout=15s';
const OUTPUT_MAX_BYTES = 4_194_304;
/** How it says what the API server said. */
const SERVER_ERROR = /^Error from server(?: \((\w+)\))?: /m;
const NO_SERVER = /^(?:Unable to connect to the server|The connection to the server)/m;

/**
 * Secrets of one namespace, by the program `kubectl` on the PATH. What is secret goes through its standard input, never
 * into its arguments.
 *
 * @param namespace - `undefined`: that of its current context.
 */
export function createKubectlSecrets(namespace: string | undefined): SecretStore {
  const place = namespace === undefined ? [] : ['--namespace', namespace];
  return {
    place: 'kubectl',
    async read(name) {
      const checked = checkObjectName(name);
      return checked.ok ? run(['get', 'secret', name]) : checked;
    },
    create: (name, data, labels) =>
      run(['create', '--filename=-'], makeSecretManifest(name, namespace, data, labels)),
    // With the resourceVersion in the object it replaces that content and no other.
    update: (secret, data) =>
      run(['replace', '--filename=-'], replaceSecretData(secret, data), secret.namespace),
  };

  async function run(args: readonly string[], input?: Manifest, within?: string) {
    const at = within === undefined ? place : ['--namespace', within];
    const output = await runKubectl([...args, ...at, '--output=json', REQUEST_TIMEOUT], input);
    return output.ok ? parseSecret(output.value) : output;
  }
}

/**
 * Runs it with an object on its standard input; bounded in time and in what it writes.
 *
 * @param isSecret - Whether what it says of a failure is shown without anything of that object.
 */
export async function runKubectl(
  args: readonly string[],
  input: Manifest | undefined,
  isSecret = true,
): Promise<Result<unknown, ClusterProblem>> {
  const child = spawn('kubectl', args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: RUN_MS,
    killSignal: 'SIGKILL',
  });
  const stdout = collect(child.stdout, () => child.kill('SIGKILL'));
  const stderr = collect(child.stderr, () => child.kill('SIGKILL'));
  const { promise: ended, resolve } = Promise.withResolvers<number | string | null>();
  child.once('error', (cause) => resolve('code' in cause ? String(cause.code) : cause.name));
  child.once('close', (code, signal) => resolve(code ?? signal));
  // It may end before it has read everything.
  child.stdin.on('error', () => {});
  child.stdin.end(input === undefined ? '' : JSON.stringify(input));
  const end = await ended;
  if (end === 'ENOENT')
    return refuse({
      reason: 'failed',
      description:
        'kubectl is not on the PATH; outside of a pod Secrets are read and written through it',
    });
  if (end !== 0) return refuse(toProblem(stderr(), end, isSecret ? input : undefined));
  try {
    return accept(JSON.parse(stdout()));
  } catch {
    return refuse({ reason: 'failed', description: 'kubectl wrote no JSON' });
  }
}

function toProblem(
  said: string,
  end: number | string | null,
  sent: Manifest | undefined,
): ClusterProblem {
  const server = SERVER_ERROR.exec(said);
  const reason = NO_SERVER.test(said) ? 'unreachable' : reasonOf(server?.[1] ?? '');
  const text = withoutSecrets(said, sent);
  return { reason, description: `kubectl: ${text === '' ? `ended with ${end}` : text}` };
}

/** Keeps what a stream says, up to a bound. */
function collect(stream: NodeJS.ReadableStream, onTooMuch: () => void): () => string {
  const pieces: Buffer[] = [];
  let length = 0;
  stream.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length > OUTPUT_MAX_BYTES) onTooMuch();
    else pieces.push(piece);
  });
  return () => Buffer.concat(pieces).toString('utf8');
}

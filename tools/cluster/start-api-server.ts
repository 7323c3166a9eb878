/**
 * A real Kubernetes API: etcd and kube-apiserver on the loopback, without nodes, controllers or containers.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeMemoryFolder } from '@sallyport/testing/files/memory-folder';
import { freePort } from '@sallyport/testing/wire/ports';

/** Programs, by their paths. */
export interface ApiServerPrograms {
  readonly etcd: string;
  readonly apiServer: string;
}

/** How a client reaches it. JSON. */
export interface ApiServerAccess {
  /** Origin, such as `https://127.0.0.1:12345`. */
  readonly url: string;
  /** PEM file of the authority of its certificate. */
  readonly caFile: string;
  /** Of a user in the group `system:masters`. */
  readonly adminToken: string;
  /** File for `kubectl` and `helm`, as that user. */
  readonly kubeconfig: string;
}

/** A running one. */
export interface RunningApiServer {
  readonly access: ApiServerAccess;
  /** Ends both processes, and removes all they kept. */
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const MEMORY = '/dev/shm';
/** Twice what a run of all tests takes, at least. */
const ROOM_BYTES = 1_073_741_824;
const READY_MS = 60_000;
const LOOK_EVERY_MS = 100;
const START_ATTEMPTS = 3;
/** The end of what a process wrote. */
const LOG_TAIL = 4_000;
/** Ends a process with the one that started it, also when that is killed. */
const SETPRIV = '/usr/bin/setpriv';

/**
 * Starts both, with RBAC and all default admission plugins. There is no controller: the caller makes the service account
 * `default` of each namespace, and nothing that is deleted is cleaned up after.
 *
 * @throws With the end of the log when one of them ends, or is not ready within a minute.
 */
export async function startApiServer(programs: ApiServerPrograms): Promise<RunningApiServer> {
  const folder = makeFolder();
  const children: Child[] = [];
  const stop = async (): Promise<void> => {
    for (const child of children.toReversed()) await child.end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const etcd = await startEtcd(programs.etcd, folder);
    children.push(etcd.child);
    const access = await startServer(programs.apiServer, etcd.url, folder, children);
    return { access, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** In memory where there is room: etcd writes files of 64 MB before it has anything to keep. */
function makeFolder(): string {
  if (!existsSync(MEMORY)) return makeMemoryFolder(tmpdir());
  const { bavail, bsize } = statfsSync(MEMORY);
  return makeMemoryFolder(bavail * bsize < ROOM_BYTES ? tmpdir() : MEMORY);
}

async function startEtcd(program: string, folder: string) {
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const url = `http://${HOST}:${clientPort}`;
  const peerUrl = `http://${HOST}:${peerPort}`;
  const child = startChild(program, {
    'data-dir': join(folder, 'etcd'),
    'unsafe-no-fsync': 'true',
    'log-level': 'warn',
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
  });
  return { child, url };
}

async function startServer(
  program: string,
  etcdUrl: string,
  folder: string,
  children: Child[],
): Promise<ApiServerAccess> {
  const inFolder = (name: string): string => join(folder, name);
  const adminToken = randomBytes(24).toString('base64url');
  writeFileSync(inFolder('tokens.csv'), `${adminToken},admin,admin,"system:masters"\n`);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(inFolder('sa.key'), privateKey.export({ type: 'sec1', format: 'pem' }));
  writeFileSync(inFolder('sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const url = `https://${HOST}:${port}`;
    const child = startChild(program, {
      'etcd-servers': etcdUrl,
      'bind-address': HOST,
      'secure-port': String(port),
      'cert-dir': inFolder('certificates'),
      'authorization-mode': 'RBAC',
      'service-account-issuer': url,
      'service-account-key-file': inFolder('sa.pub'),
      'service-account-signing-key-file': inFolder('sa.key'),
      'token-auth-file': inFolder('tokens.csv'),
      'service-cluster-ip-range': '10.0.0.0/24',
    });
    children.push(child);
    const caFile = inFolder('certificates/apiserver.crt');
    try {
      await untilReady(child, `${url}/readyz`, adminToken);
    } catch (error) {
      await child.end();
      const isTaken = error instanceof Error && error.message.includes('address already in use');
      if (isTaken && attempt < START_ATTEMPTS) continue;
      throw error;
    }
    const kubeconfig = inFolder('kubeconfig');
    writeFileSync(kubeconfig, formatKubeconfig(url, caFile, adminToken), { mode: 0o600 });
    return { url, caFile, adminToken, kubeconfig };
  }
}

/** Its certificate is not known before it has written it, and nothing is sent that has a value. */
async function untilReady(child: Child, url: string, token: string): Promise<void> {
  const limit = AbortSignal.timeout(READY_MS);
  while (!(await isReady(url, token))) {
    if (child.hasEnded()) throw new Error(`kube-apiserver ended\n${child.log()}`);
    if (limit.aborted) throw new Error(`kube-apiserver was not ready in time\n${child.log()}`);
    await pause(LOOK_EVERY_MS);
  }
}

function isReady(url: string, token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  return new Promise((resolve) => {
    const request = get(url, { headers, rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    request.once('error', () => resolve(false));
  });
}

/** YAML includes JSON. */
function formatKubeconfig(server: string, caFile: string, token: string): string {
  const authority = readFileSync(caFile).toString('base64');
  const name = 'test';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}

interface Child {
  hasEnded(): boolean;
  /** The end of what it wrote. */
  log(): string;
  end(): Promise<void>;
}

function startChild(program: string, flags: Readonly<Record<string, string>>): Child {
  const tied = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL', program] : [program];
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const [first = '', ...rest] = [...tied, ...args];
  const child: ChildProcess = spawn(first, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      log = `${log}${chunk.toString()}`.slice(-LOG_TAIL);
    });
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      log += String(error);
      isOver = true;
      resolve();
    });
    child.once('close', () => {
      isOver = true;
      resolve();
    });
  });
  return {
    hasEnded: () => isOver,
    log: () => log,
    async end() {
      // Nothing is kept: there is nothing to end in order.
      if (!isOver) child.kill('SIGKILL');
      await over;
    },
  };
}

/**
 * The Kubernetes API of this run, as tests ask it.
 *
 * @module
 */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { inject } from 'vitest';
import { findBuiltGoTool } from '../../tools/cluster/go-tools.ts';
import type { ApiServerAccess } from '../../tools/cluster/start-api-server.ts';
import { findPart, type Part, partAt } from '../parts.ts';
import { askPatiently, programPath } from './go-tool.ts';

const ETCD = findPart('etcd');
const GO = findPart('go');

/** etcd, and the Go toolchain or a kube-apiserver that it built before. */
export const API_SERVER: Part = partAt(
  'kube-apiserver',
  ETCD.path === undefined ? undefined : (findBuiltGoTool('kube-apiserver') ?? GO.path),
  'etcd is not on PATH, or neither it nor Go to build it is there',
);

/** A JSON object of the API. */
export interface KubernetesObject {
  readonly kind?: string;
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [member: string]: unknown;
}

/** An answer of the API server. */
export interface ApiAnswer {
  readonly status: number;
  /** What its `Warning` headers say. */
  readonly warnings: readonly string[];
  readonly body: KubernetesObject & { readonly reason?: string; readonly message?: string };
}

/** How a call is made; as the administrator when `token` is absent. */
export interface ApiCall {
  readonly body?: object;
  readonly token?: string;
  readonly contentType?: string;
}

/** What `kubectl` or `helm` wrote. */
export interface ProgramOutput {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The API server with what tests need of it. */
export interface Cluster {
  readonly access: ApiServerAccess;
  readonly authority: string;
  /** Calls a path such as `/api/v1/namespaces`. */
  call(method: string, path: string, call?: ApiCall): Promise<ApiAnswer>;
  /** Creates a namespace of a name of its own, with the service account `default`, and takes it away from further use. */
  makeNamespace(labels?: Readonly<Record<string, string>>, prefix?: string): Promise<string>;
  /** Issues a token of a service account. */
  issueToken(namespace: string, account: string): Promise<string>;
  /** Runs kubectl as the administrator. */
  kubectl(args: readonly string[], input?: string): Promise<ProgramOutput>;
}

let opened: Promise<Cluster> | undefined;

/** The one of this run; the first call starts it. @throws With the reason when it cannot be started. */
export function openCluster(): Promise<Cluster> {
  opened ??= open();
  return opened;
}

async function open(): Promise<Cluster> {
  const access = JSON.parse(await askPatiently(inject('apiServer'))) as ApiServerAccess;
  const authority = readFileSync(access.caFile, 'utf8');
  const agent = new Agent({ connect: { ca: authority } });

  const call: Cluster['call'] = async (method, path, { body, token, contentType } = {}) => {
    const answer = await request(`${access.url}${path}`, {
      method: method as 'GET',
      dispatcher: agent,
      headers: {
        authorization: `Bearer ${token ?? access.adminToken}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      warnings: [answer.headers['warning'] ?? []].flat().map(textOfWarning),
      // A group that is not served is answered with plain text.
      body: (text.startsWith('{')
        ? JSON.parse(text)
        : { metadata: {}, message: text }) as ApiAnswer['body'],
    };
  };
  const make = async (path: string, body: object): Promise<KubernetesObject> => {
    const answer = await call('POST', path, { body });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.body.message}`);
    return answer.body;
  };
  return {
    access,
    authority,
    call,
    async makeNamespace(labels = {}, prefix = 'test') {
      const name = `${prefix}-${randomBytes(4).toString('hex')}`;
      await make('/api/v1/namespaces', { metadata: { name, labels } });
      await make(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
      return name;
    },
    async issueToken(namespace, account) {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
      const issued = await make(path, { spec: {} });
      return (issued['status'] as { readonly token: string }).token;
    },
    async kubectl(args, input = '') {
      const program = await programPath('kubectl');
      return runProgram(program, ['--kubeconfig', access.kubeconfig, ...args], input);
    },
  };
}

/** RFC 7234 section 5.5: code, agent, and the text in quotes. */
function textOfWarning(header: string): string {
  return /^299 - "(.*)"$/.exec(header)?.[1]?.replaceAll('\\"', '"') ?? header;
}

/** Runs a program to its end. A failure is an output like any other. */
export async function runProgram(
  program: string,
  args: readonly string[],
  input = '',
  environment: Readonly<Record<string, string>> = {},
): Promise<ProgramOutput> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', ...environment };
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => {
    stdout += piece.toString();
  });
  child.stderr.on('data', (piece: Buffer) => {
    stderr += piece.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, stdout, stderr };
}

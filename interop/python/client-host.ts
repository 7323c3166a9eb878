/**
 * The Python process that the processes of released clients are forked from: it imports once what they need.
 *
 * @module
 */

import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import type { ClientProcess } from './client-process.ts';

/** What a process of a client is started with. */
export interface ClientStart {
  readonly script: string;
  readonly arguments: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** A file that does not exist yet; stderr goes there. */
  readonly errors: string;
}

/** The running process. */
export interface ClientHost {
  readonly python: string;
  start(request: ClientStart): ClientProcess;
  stop(): Promise<void>;
}

/** The folder of the clients' scripts. */
export const CLIENT_FOLDER: string = new URL('client/', import.meta.url).pathname;

/**
 * What the clients import. flyte itself is imported by each of its processes: it starts a thread as it is imported,
 * and a fork takes no thread along.
 */
const MODULES = [
  ...['flytekit.clients.friendly', 'flytekit.configuration', 'flyteidl.service.identity_pb2_grpc'],
  ...['flyteidl2.auth.identity_connect', 'connectrpc.client', 'pyqwest', 'httpx', 'httpcore'],
  ...['opentelemetry.trace', 'obstore', 'aiofiles', 'rich_click', 'rich.progress', 'sqlite3'],
  ...['keyring', 'keyring.backend', 'requests', 'webbrowser', 'http.server'],
];

/** A line that it prints. */
interface Report {
  readonly id: number;
  readonly pid?: number;
  readonly code?: number;
}

/** Starts it. @param python - An interpreter that has the clients. */
export async function startClientHost(python: string): Promise<ClientHost> {
  const folder = temporaryFolder();
  const socketPath = join(folder.path, 'host');
  const child = spawn(python, [join(CLIENT_FOLDER, 'client_host.py'), socketPath, ...MODULES], {
    env: { PATH: process.env['PATH'] ?? '', HOME: folder.path, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const started = new Map<number, (report: Report) => void>();
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  const ended = new Promise<void>((done) =>
    child.once('close', () => {
      reject(new Error('the host of the clients ended'));
      for (const [id, report] of started) report({ id, code: -1 });
      done();
    }),
  );
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('{')) return resolve();
    const report = JSON.parse(line) as Report;
    started.get(report.id)?.(report);
    if (report.code !== undefined) started.delete(report.id);
  });
  await ready;
  let count = 0;
  return {
    python,
    start(request) {
      count += 1;
      const id = count;
      const connection = connect({ path: socketPath, allowHalfOpen: true });
      connection.write(`${JSON.stringify({ id, ...request })}\n`);
      let pid: number | undefined;
      const exit = Promise.withResolvers<number>();
      started.set(id, (report) => {
        pid = report.pid ?? pid;
        if (report.code !== undefined) exit.resolve(report.code);
      });
      const closed = new Promise((done) => connection.once('end', done).once('error', done));
      return {
        stdin: connection,
        stdout: connection,
        errors: request.errors,
        ended: closed.then(() => exit.promise),
        kill() {
          if (pid !== undefined && started.has(id)) process.kill(pid, 'SIGKILL');
        },
      };
    },
    async stop() {
      child.stdin.end();
      await ended;
      folder.remove();
    },
  };
}

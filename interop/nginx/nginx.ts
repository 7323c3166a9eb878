/**
 * Runs nginx in a folder of its own.
 *
 * @module
 */

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { findPart, type Part, requirePart } from '../parts.ts';

/** The program. */
export const NGINX: Part = findPart('nginx');

/** A folder that holds everything one nginx reads and writes. */
export interface Prefix {
  readonly path: string;
  /** Writes a file, its folder too. */
  write(file: string, content: string): void;
  remove(): void;
}

/** A running nginx. */
export interface RunningNginx {
  /** What it has logged so far. */
  readonly log: () => string;
  /** Ends it and waits until it has; the folder stays. */
  stop(): Promise<void>;
}

const STARTED = /start worker process \d+\n/;
const START_MS = 30_000;
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** Makes an empty folder. */
export function createPrefix(): Prefix {
  const folder = temporaryFolder();
  return {
    path: folder.path,
    write(file, content) {
      const path = join(folder.path, file);
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, content);
    },
    remove: () => folder.remove(),
  };
}

/**
 * Starts nginx and waits for its first worker.
 *
 * @param http - What stands in `http {}`. Relative paths in it lie in the folder.
 * @param modules - Files of modules beyond those that are compiled in.
 *
 * @throws With all it wrote when it ends before.
 */
export async function startNginx(
  prefix: Prefix,
  http: string,
  modules: readonly string[] = [],
): Promise<RunningNginx> {
  writeMainFile(prefix, http, modules);
  const child = spawn(requirePart(NGINX), ['-p', prefix.path, '-c', join(prefix.path, MAIN)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const { promise: started, resolve, reject } = Promise.withResolvers<void>();
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
    if (STARTED.test(log)) resolve();
  });
  child.once('error', reject);
  void ended.then(() => reject(new Error(`nginx ended\n${log}`)));
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  await started.finally(() => clearTimeout(timer));
  return {
    log: () => log,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Lets nginx read a configuration without starting it. */
export function testConfiguration(
  prefix: Prefix,
  http: string,
): { readonly ok: boolean; readonly log: string } {
  writeMainFile(prefix, http);
  const { status, stderr } = spawnSync(
    requirePart(NGINX),
    ['-t', '-p', prefix.path, '-c', join(prefix.path, MAIN)],
    { encoding: 'utf8' },
  );
  return { ok: status === 0, log: stderr };
}

const MAIN = 'nginx.conf';

function writeMainFile(prefix: Prefix, http: string, modules: readonly string[] = []): void {
  const paths = TEMPORARY.map((name) => `  ${name}_temp_path ${prefix.path}/${name};\n`);
  // Workers of a root-owned nginx would run as a user that may not enter the folder.
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  prefix.write(
    MAIN,
    `${modules.map((file) => `load_module ${file};\n`).join('')}${user}daemon off;\nworker_processes 1;\npid ${prefix.path}/nginx.pid;\nerror_log stderr notice;\n` +
      `events { worker_connections 512; }\nhttp {\n  access_log off;\n${paths.join('')}${http}\n}\n`,
  );
}

/** What `nginx -T` writes of the configuration in a folder. */
export function dumpConfiguration(folder: string): string {
  const { stdout } = spawnSync(requirePart(NGINX), ['-T', '-p', folder, '-c', join(folder, MAIN)], {
    encoding: 'utf8',
  });
  return stdout;
}

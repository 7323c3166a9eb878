/**
 * nginx with one worker, on a core.
 *
 * @module
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import { findPart, requirePart } from '../../interop/parts.ts';
import type { Ends } from '../process/ends.ts';
import { startPinned, waitUntil } from '../process/pinned.ts';

/** A running nginx. */
export interface Nginx {
  readonly origin: string;
  readonly pids: () => readonly number[];
}

/** What it is made from. */
export interface NginxOptions {
  readonly core: number;
  /** What stands in `http {}`, beside what is the same for all; relative paths lie in the folder. */
  readonly http: (port: number, folder: string) => string;
  /** Puts files into its folder before it starts. */
  readonly fill?: (folder: string) => void | Promise<void>;
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
/** A file of its own, which costs it least: nothing but the check makes the difference. */
export const CONTENT_PATH = '/content.json';
const CONTENT = `${JSON.stringify({ content: 'x'.repeat(80) })}\n`;

/** Starts it on a free port. */
export async function startNginx(ends: Ends, { core, http, fill }: NginxOptions): Promise<Nginx> {
  const folder = temporaryFolder();
  ends.add(() => folder.remove());
  mkdirSync(join(folder.path, 'content'));
  writeFileSync(join(folder.path, 'content', CONTENT_PATH), CONTENT);
  await fill?.(folder.path);
  const port = await freePort();
  const file = join(folder.path, 'nginx.conf');
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  const paths = TEMPORARY.map((name) => `  ${name}_temp_path ${folder.path}/${name};\n`);
  writeFileSync(
    file,
    `${user}daemon off;
worker_processes 1;
pid ${folder.path}/nginx.pid;
error_log stderr notice;
events { worker_connections 4096; }
http {
  access_log off;
  sendfile on;
  open_file_cache max=10 inactive=60s;
  # The load's own connections stay open as long as it lasts.
  keepalive_requests 10000000;
${paths.join('')}${http(port, folder.path)}
}
`,
  );
  const nginx = requirePart(findPart('nginx'));
  const running = startPinned(ends, core, [nginx, '-p', folder.path, '-c', file], {});
  await waitUntil(running, () => /start worker process \d+\n/.test(running.log()));
  return { origin: `http://127.0.0.1:${port}`, pids: () => [running.pid] };
}

/**
 * `sallyport serve` on the servers' core.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FakeIdp } from '@sallyport/testing/idp/fake-idp';
import { freePort } from '@sallyport/testing/wire/ports';
import { exchange } from '../../conformance/wire/exchange.ts';
import { temporaryFolder } from '../../conformance/wire/process.ts';
import type { Ends } from '../process/ends.ts';
import { type PinnedProcess, SERVER_CORE, startPinned, waitForLine } from '../process/pinned.ts';
import { importFromSource } from '../seed/from-source.ts';
import { CLIENT_ID, signIn } from './identity-provider.ts';

/** Audience of the tokens. It is not where the server listens: nothing of what is measured depends on that. */
export const PUBLIC_URL = 'http://localhost:9';
/** Header of bearer tokens. */
export const BEARER_HEADER = 'authorization';

/** How it is set up in every row. */
export const OBSERVED =
  'metrics and audit on, 1 % of successes logged (`observe.sampleSuccesses: 0.01`)';

/** Settings of {@link startSallyport}. */
export interface SallyportOptions {
  readonly idp: FakeIdp;
  /** Port of the Redis that keeps the sessions; without one, the local store does. */
  readonly redisPort?: number;
  readonly workers?: number;
  /** Whether it listens on a Unix socket; its origin is then the socket, and `signIn` needs another. */
  readonly onUnixSocket?: boolean;
  /** Further lines of the configuration file. */
  readonly config?: string;
  /** Sessions that stand before it starts, each of a person of its own. */
  readonly sessions?: number;
  /** Where it runs; the servers' core when absent. */
  readonly cores?: string;
  /** The command's file; the checkout's when absent. */
  readonly file?: string;
  /** What the runtime is given at the start; nothing when absent. */
  readonly runtime?: RuntimeSettings;
}

/** Settings of the runtime. */
export interface RuntimeSettings {
  readonly options: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** The running server. */
export interface Sallyport {
  /** Of `/me`. */
  readonly url: string;
  readonly origin: string;
  readonly metricsUrl: string;
  /** Cookie headers of the sessions that stood before it started. */
  readonly cookies: readonly string[];
  readonly pids: () => readonly number[];
  /** Milliseconds from the start of the process to its `ready` line. */
  readonly readyMs: number;
  /** Starts the process again, with nothing remembered, on another port. */
  restart(): Promise<void>;
  /** Ends the process, and leaves what it has kept. */
  stop(): Promise<void>;
  /** A Cookie header of a signed-in browser, which comes by another origin where one is given. */
  signIn(origin?: string): Promise<string>;
}

/** The command as a file. */
export const COMMAND: string = new URL('../../packages/cli/bin/sallyport.js', import.meta.url)
  .pathname;

/**
 * Has the command's code compiled and kept, as it is where it was run before: compiling takes time and
 * memory that later starts do not need.
 */
export async function compileCommand(ends: Ends, idp: FakeIdp): Promise<void> {
  const sallyport = await startSallyport(ends, { idp });
  await sallyport.signIn();
  await sallyport.stop();
}

/** Starts it in a folder of its own. */
export async function startSallyport(ends: Ends, options: SallyportOptions): Promise<Sallyport> {
  const folder = temporaryFolder();
  ends.add(() => folder.remove());
  const configFile = join(folder.path, 'sallyport.yaml');
  const metricsPort = await freePort();
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  const socket = options.onUnixSocket === true ? `unix:${folder.path}/socket` : '';
  writeFileSync(configFile, configurationOf(options, metricsPort, socket));
  const secretFile = join(folder.path, 'oidc_client_secret');
  writeFileSync(secretFile, 'bench', { mode: 0o600 });
  const cookies = await seed(folder.path, options);
  const env = {
    PUBLIC_URL,
    OIDC_BASE_URL: options.idp.issuer,
    OIDC_CLIENT_ID: CLIENT_ID,
    CLI_CLIENT_ID: 'cli',
    OIDC_CLIENT_SECRET_FILE: secretFile,
    SALLYPORT_STATE_DIRECTORY: folder.path,
    ...options.runtime?.environment,
  };
  const { file = COMMAND, runtime } = options;
  const args = ['serve', '--port', '0', '--config', configFile];
  const command = [process.execPath, ...(runtime?.options ?? []), file, ...args];
  let server: {
    readonly running: PinnedProcess;
    readonly origin: string;
    readonly readyMs: number;
  };
  const startProcess = async (): Promise<typeof server> => {
    const startedAt = performance.now();
    const running = startPinned(ends, options.cores ?? SERVER_CORE, command, { env });
    const origin = await waitForLine(running, /^ready (\S+)/m);
    const readyMs = performance.now() - startedAt;
    const metrics = await exchange(metricsUrl);
    if (metrics.status !== 200) throw new Error(`metrics are answered with ${metrics.status}`);
    return { running, origin, readyMs };
  };
  server = await startProcess();

  return {
    get url() {
      return `${server.origin}/me`;
    },
    get origin() {
      return server.origin;
    },
    get readyMs() {
      return server.readyMs;
    },
    metricsUrl,
    cookies,
    pids: () => [server.running.pid],
    async restart() {
      await server.running.stop();
      server = await startProcess();
    },
    stop: () => server.running.stop(),
    signIn: (origin = server.origin) =>
      signIn(options.idp, {
        login: `${origin}/login?redirect_url=/`,
        callback: `${origin}/callback`,
        cookieName: 'core_session',
      }),
  };
}

async function seed(
  stateDirectory: string,
  { idp, sessions = 0, redisPort }: SallyportOptions,
): Promise<readonly string[]> {
  if (sessions === 0) return [];
  importFromSource();
  const { seedSessions } = await import('../seed/seed-sessions.ts');
  return seedSessions({ issuer: idp.issuer, count: sessions, stateDirectory, redisPort });
}

/** The audit stream goes where the log goes, which is read all the time. */
function configurationOf(
  { redisPort, workers = 1, config = '' }: SallyportOptions,
  metricsPort: number,
  socket: string,
): string {
  const session =
    redisPort === undefined
      ? ''
      : `session:
  store: redis
  redis:
    addresses: ["127.0.0.1:${redisPort}"]
`;
  return `server:
  workers: ${workers}
  listen: '${socket}'
observe:
  metrics:
    port: ${metricsPort}
  sampleSuccesses: 0.01
${session}${config}`;
}

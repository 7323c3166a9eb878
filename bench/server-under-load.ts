/**
 * `sallyport serve` on a core of its own, in front of an IdP of the bench's own, with one session.
 *
 * @module
 */

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AttackerIdp, startAttackerIdp } from '../conformance/wire/attacker-idp.ts';
import { Browser } from '../conformance/wire/browser.ts';
import { type Running, start, temporaryFolder } from '../conformance/wire/process.ts';

/** The server runs here, everything else on {@link LOAD_CORE}. */
const SERVER_CORE = 0;
export const LOAD_CORE = 1;
/** What the load opens at once. */
export const CONNECTIONS = 32;

/** A server to measure. */
export interface ServerUnderLoad {
  readonly url: string;
  readonly idp: AttackerIdp;
  /** Starts the process again, with nothing remembered, on another port. */
  restart(): Promise<void>;
  /** A Cookie header of a signed-in browser. */
  signIn(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts it. Its public URL is not where it listens: nothing of what is measured depends on that. */
export async function startServerUnderLoad(): Promise<ServerUnderLoad> {
  const folder = temporaryFolder();
  const idp = await startAttackerIdp('web');
  const secretFile = join(folder.path, 'oidc_client_secret');
  writeFileSync(secretFile, 'bench', { mode: 0o600 });
  let running = await run();

  return {
    get url() {
      return running.url;
    },
    idp,
    async restart() {
      await running.stop();
      running = await run();
    },
    async signIn() {
      const browser = new Browser();
      const toIdp = await browser.step(`${running.url}/login?redirect_url=/`);
      const callback = idp.authorize(toIdp.location ?? '');
      await browser.step(`${running.url}/callback?${callback.toString()}`);
      const value = browser.cookie(new URL(running.url).hostname, 'core_session');
      if (value === undefined) throw new Error('the sign-in gave no session');
      return `core_session=${value}`;
    },
    async stop() {
      await running.stop();
      await idp.close();
      folder.remove();
    },
  };

  async function run(): Promise<Running> {
    const started = await start(['serve', '--port', '0'], {
      PUBLIC_URL: PUBLIC_URL,
      OIDC_BASE_URL: idp.issuer,
      OIDC_CLIENT_ID: 'web',
      CLI_CLIENT_ID: 'cli',
      OIDC_CLIENT_SECRET_FILE: secretFile,
      SALLYPORT_STATE_DIRECTORY: folder.path,
    });
    pin(started.pid);
    return started;
  }
}

/** Audience of the tokens. */
export const PUBLIC_URL = 'http://localhost:9';

/** Keeps a process and its threads on the server's core. */
export function pin(pid: number): void {
  spawn('taskset', ['-a', '-c', '-p', String(SERVER_CORE), String(pid)], { stdio: 'ignore' });
}

/** The middle value; of an even count the upper one. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

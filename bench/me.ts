/**
 * `/me` with a valid session beside a bare node:http server that answers the same bytes.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startAttackerIdp } from '../conformance/wire/attacker-idp.ts';
import { Browser } from '../conformance/wire/browser.ts';
import { exchange } from '../conformance/wire/exchange.ts';
import { start, temporaryFolder } from '../conformance/wire/process.ts';
import { load } from './wrk.ts';

const SERVER_CORE = 0;
const LOAD_CORE = 1;
const ROUNDS = 7;
const SECONDS = 4;
const CONNECTIONS = 32;
/** Added by node:http itself. */
const OWN_HEADERS = new Set(['date', 'connection', 'keep-alive']);

/** Prints requests a second of both, round by round, and their ratio. */
export async function benchMe(): Promise<void> {
  const folder = temporaryFolder();
  const idp = await startAttackerIdp('web');
  const secretFile = join(folder.path, 'oidc_client_secret');
  writeFileSync(secretFile, 'bench', { mode: 0o600 });
  const server = await start(['serve', '--port', '0'], {
    PUBLIC_URL: 'http://localhost:9',
    OIDC_BASE_URL: idp.issuer,
    OIDC_CLIENT_ID: 'web',
    CLI_CLIENT_ID: 'cli',
    OIDC_CLIENT_SECRET_FILE: secretFile,
    SALLYPORT_STATE_DIRECTORY: folder.path,
  });
  pin(server.pid);
  const cookie = await signIn(server.url, idp);
  const answer = await exchange(`${server.url}/me`, { headers: { cookie } });
  if (answer.status !== 200) throw new Error(`/me answered ${answer.status}`);
  const bare = await startBare(answer.headers, answer.body);
  pin(bare.process.pid ?? 0);

  const rates: { me: number; bare: number }[] = [];
  console.log('round   /me req/s  p99 ms   bare req/s  p99 ms   ratio');
  for (let round = 0; round <= ROUNDS; round += 1) {
    const options = {
      core: LOAD_CORE,
      seconds: SECONDS,
      connections: CONNECTIONS,
      headers: { cookie },
    };
    const me = await load(`${server.url}/me`, options);
    const base = await load(`${bare.url}/me`, options);
    if (me.failures + base.failures > 0)
      throw new Error(`${me.failures + base.failures} requests failed`);
    // The first round warms both up.
    if (round === 0) continue;
    rates.push({ me: me.requestsPerSecond, bare: base.requestsPerSecond });
    console.log(
      `${String(round).padStart(5)}  ${me.requestsPerSecond.toFixed(0).padStart(10)}  ${me.p99.toFixed(2).padStart(6)}  ${base.requestsPerSecond.toFixed(0).padStart(11)}  ${base.p99.toFixed(2).padStart(6)}  ${(me.requestsPerSecond / base.requestsPerSecond).toFixed(3).padStart(6)}`,
    );
  }
  const ratio = median(rates.map(({ me, bare: base }) => me / base));
  console.log(
    `median: /me ${median(rates.map(({ me }) => me)).toFixed(0)} req/s, bare ${median(rates.map(({ bare: base }) => base)).toFixed(0)} req/s, ratio ${ratio.toFixed(3)} (wanted: at least 0.70)`,
  );
  bare.process.kill();
  await server.stop();
  await idp.close();
  folder.remove();
}

async function signIn(
  url: string,
  idp: Awaited<ReturnType<typeof startAttackerIdp>>,
): Promise<string> {
  const browser = new Browser();
  const toIdp = await browser.step(`${url}/login?redirect_url=/`);
  const callback = idp.authorize(toIdp.location ?? '');
  await browser.step(`${url}/callback?${callback.toString()}`);
  const host = new URL(url).hostname;
  const value = browser.cookie(host, 'core_session');
  if (value === undefined) throw new Error('the sign-in gave no session');
  return `core_session=${value}`;
}

async function startBare(
  headers: NodeJS.Dict<string | string[]>,
  body: string,
): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-server.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const flat = Object.entries(headers).flatMap(([name, value]) =>
    OWN_HEADERS.has(name) ? [] : [name, String(value)],
  );
  child.stdin.end(JSON.stringify({ headers: flat, body }));
  const url = await new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) =>
      resolve(chunk.toString().trim().replace('ready ', '')),
    );
  });
  return { url, process: child };
}

function pin(pid: number): void {
  spawn('taskset', ['-a', '-c', '-p', String(SERVER_CORE), String(pid)], { stdio: 'ignore' });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

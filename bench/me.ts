/**
 * `/me` with a valid session beside a bare node:http server that answers the same bytes.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { exchange } from '../conformance/wire/exchange.ts';
import { compare } from './compare.ts';
import { pin, startServerUnderLoad } from './server-under-load.ts';

/** Added by node:http itself. */
const OWN_HEADERS = new Set(['date', 'connection', 'keep-alive']);

/** Prints requests a second of both, round by round, and their ratio. */
export async function benchMe(): Promise<void> {
  const server = await startServerUnderLoad();
  const cookie = await server.signIn();
  const answer = await exchange(`${server.url}/me`, { headers: { cookie } });
  if (answer.status !== 200) throw new Error(`/me answered ${answer.status}`);
  const bare = await startBare(answer.headers, answer.body);
  pin(bare.process.pid ?? 0);
  await compare(
    { name: '/me', url: `${server.url}/me`, headers: { cookie } },
    { name: 'bare', url: `${bare.url}/me`, headers: { cookie } },
    0.7,
  );
  bare.process.kill();
  await server.stop();
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

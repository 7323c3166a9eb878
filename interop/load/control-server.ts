/**
 * A server that does nothing but answer, to measure what the machine does to any program.
 *
 * @module
 */

import { spawn } from 'node:child_process';

/** The running server. */
export interface ControlServer {
  readonly url: string;
  stop(): void;
}

const PROGRAM = new URL('../../bench/bare-server.js', import.meta.url).pathname;
const ANSWER = JSON.stringify({ status: 200, headers: ['content-length', '2'], body: '{}' });

/** Starts it in a process of its own. */
export async function startControlServer(): Promise<ControlServer> {
  const child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(ANSWER);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.once('exit', () => reject(new Error('the control server ended')));
  child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().slice(6).trim()));
  return { url: `${await promise}/`, stop: () => void child.kill() };
}

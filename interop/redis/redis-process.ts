/**
 * One process of the Redis program, whatever its role.
 *
 * @module
 */

import { spawn } from 'node:child_process';
import { findPart, type Part, requirePart } from '../parts.ts';

/** The program; `redis-sentinel` is the same with another argument. */
export const REDIS: Part = findPart('redis-server');

/** A running process. */
export interface RedisProcess {
  readonly pid: number;
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
  /** Ends it without asking. */
  kill(): Promise<void>;
  /** Lets it stand still: connections stay open and nothing is answered. */
  pause(): void;
  resume(): void;
}

const READY = /Ready to accept connections|Sentinel ID is/;
const READY_MS = 20_000;

/**
 * Starts it and waits until it answers, with everything it had kept.
 *
 * @param configFile - Some roles write to it.
 * @throws With its log when it ends before.
 */
export async function startRedisProcess(
  configFile: string,
  args: readonly string[] = [],
): Promise<RedisProcess> {
  const child = spawn(requirePart(REDIS), [configFile, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { LC_ALL: 'C' },
  });
  let log = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (READY.test(log)) resolve();
    });
  child.once('error', reject);
  void ended.then(() => reject(new Error(`redis-server ended\n${log}`)));
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS);
  await ready.finally(() => clearTimeout(timer));

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      // One that stands still would never see the signal.
      child.kill('SIGCONT');
    }
    await ended;
  };
  return {
    pid: child.pid ?? 0,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}

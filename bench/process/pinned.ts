/**
 * Programs on a core of their own.
 *
 * @module
 */

import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  spawn,
  spawnSync,
} from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Ends } from './ends.ts';

/** Where the measured servers run, all that belong to one candidate together. */
export const SERVER_CORE = 0;
/** Where the load, the identity provider, Redis, backends and this program run. */
export const LOAD_CORE = 1;

const PATIENCE_MS = 5_000;
const READY_MS = 15_000;
const POLL_MS = 20;
const running = new Set<ChildProcess>();
// The last resort when this process ends before the ends of a case are run.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A program that runs. */
export interface PinnedProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Everything written to standard error so far, its last part if it is long. */
  readonly log: () => string;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  /** Asks it to end, waits, and ends it without asking if it does not. */
  stop(): Promise<void>;
}

const LOG_MAX = 65_536;

/**
 * Starts a program on a core, with all its threads and children to come.
 *
 * @param cores - A number, or a list as `taskset` takes it.
 * @param ends - Gets its stop.
 */
export function startPinned(
  ends: Ends,
  cores: number | string,
  command: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly input?: string },
): PinnedProcess {
  const { env, input } = options;
  const child = startChild(cores, command, env ?? {});
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-LOG_MAX);
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (failure) => {
      log += failure.message;
      resolve();
    });
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const stop = async (): Promise<void> => {
    if (!running.has(child)) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    await ended;
    clearTimeout(timer);
  };
  ends.add(stop);
  return { pid: child.pid ?? 0, child, log: () => log, ended, stop };
}

/** taskset becomes the program, so that the pid is the program's. */
function startChild(
  cores: number | string,
  command: readonly string[],
  env: NodeJS.ProcessEnv,
): ChildProcessWithoutNullStreams {
  const child = spawn('taskset', ['-c', String(cores), ...command], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
}

/**
 * Runs a program on the core of the load to its end.
 *
 * @returns What it wrote to standard output.
 * @throws With all it wrote when it fails.
 */
export async function runOnLoadCore(command: readonly string[]): Promise<string> {
  const child = startChild(LOAD_CORE, command, {});
  child.stdin.end();
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if ((await ended) !== 0) throw new Error(`${command[0]} failed\n${stdout}${stderr}`);
  return stdout;
}

/**
 * Waits for a line of standard output.
 *
 * @returns The first group of the pattern, or the whole match.
 * @throws With the log when the program ends before.
 */
export function waitForLine(
  { child, ended, log }: PinnedProcess,
  pattern: RegExp,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const look = (chunk: Buffer) => {
      output += chunk.toString();
      const match = pattern.exec(output);
      if (match === null) return;
      child.stdout?.off('data', look);
      child.stdout?.resume();
      resolve(match[1] ?? match[0]);
    };
    child.stdout?.on('data', look);
    void ended.then(() =>
      reject(new Error(`${child.spawnargs.slice(3).join(' ')} ended\n${output}\n${log()}`)),
    );
  });
}

/**
 * Waits until a program answers.
 *
 * @param isReady - Asked again and again; may reject, which is no answer.
 * @throws With the log when the program ends before, or takes too long.
 */
export async function waitUntil(
  { child, log }: PinnedProcess,
  isReady: () => boolean | Promise<boolean>,
): Promise<void> {
  const end = performance.now() + READY_MS;
  for (;;) {
    try {
      if (await isReady()) return;
    } catch {
      // No process listens yet.
    }
    if (!running.has(child) || performance.now() > end)
      throw new Error(`${child.spawnargs[3]} does not start\n${log()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Keeps this process, and what it starts without {@link startPinned}, off the servers' core. */
export function pinSelf(): void {
  spawnSync('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(process.pid)], {
    stdio: 'ignore',
  });
}

/** Moves a running process with all its threads to a core. */
export function moveTo(core: number, pid: number): void {
  spawnSync('taskset', ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' });
}

/**
 * Runs the command as a person would, and waits for what it says.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeMemoryFolder } from '@sallyport/testing/files/memory-folder';
import { COMMAND } from './command-file.ts';
import type { ServiceHost } from './service-host.ts';

/** A running command. */
export interface Running {
  /** The URL of its `ready` line. */
  readonly url: string;
  readonly pid: number;
  /** Everything written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  signal(name: NodeJS.Signals): void;
  /** Asks it to end, and waits until it has. */
  stop(): Promise<number | null>;
  /**
   * Its end, whatever its cause: for a process that has its signal already, since a second one ends it at once. Absent
   * from a service that shares its process.
   */
  readonly ended?: Promise<number | null>;
  /** Ends it without asking. */
  kill(): Promise<void>;
}

/** Limits the operating system puts on the process. */
export interface Limits {
  /** Largest file it can write, in KiB: a disk that is full. */
  readonly fileMaxKiB?: number;
}

/** What surrounds the process, beside its environment. */
export interface Surroundings extends Limits {
  /** Decides what it takes for the present; see `startMovedClock`. */
  readonly clock?: { readonly environment: Readonly<Record<string, string>> } | undefined;
  /** Where it runs; beside the test, as its user, when absent. */
  readonly place?: Place;
  /** Ends with the process of the test, also when that is killed: where `setpriv` is found, which Linux has. */
  readonly endsWithTest?: boolean;
  /** Runs it beside others in one process, by whose limits and clock it then goes. */
  readonly host?: ServiceHost | undefined;
}

/** Where a command runs: another installation, another user, another root folder. */
export interface Place {
  /** What becomes the command: the words before its arguments. */
  readonly program: readonly string[];
  /** Makes a folder that a process there can write. */
  stateFolder(): TemporaryFolder;
  /** Gives a folder of {@link stateFolder}, and what the test has written into it, to the user of the process. */
  handOver(folder: string): void;
}

const READY_MS = 30_000;
/** Becomes the command, which the system then ends with its parent. */
const SETPRIV = '/usr/bin/setpriv';
const TIED = [SETPRIV, '--pdeathsig', 'KILL'];

/**
 * Starts `sallyport` with arguments and waits for its `ready <url>` line.
 *
 * @throws With all it wrote when it ends before, or is not ready within 30 s.
 */
export async function start(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  { fileMaxKiB, clock, place = BESIDE, endsWithTest = false, host }: Surroundings = {},
): Promise<Running> {
  if (host !== undefined) return host.start(args, environment);
  const isTied = endsWithTest && existsSync(SETPRIV);
  const command = [...(isTied ? TIED : []), ...place.program, ...args];
  // The shell sets the limit and then becomes the command, so that the pid is the command's.
  const limited = ['bash', '-c', `ulimit -f ${fileMaxKiB} && exec "$0" "$@"`, ...command];
  const [program = '', ...rest] = fileMaxKiB === undefined ? command : limited;
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      ...environment,
      ...clock?.environment,
    },
  });
  let stdout = '';
  let stderr = '';
  const { promise: ready, resolve, reject } = Promise.withResolvers<string>();
  const ended = new Promise<number | null>((resolveEnd) => {
    child.once('exit', (code) => {
      resolveEnd(code);
      reject(new Error(`sallyport ${args.join(' ')} ended with ${code}\n${stdout}\n${stderr}`));
    });
  });
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    const url = /^ready (\S+)/m.exec(stdout)?.[1];
    if (url !== undefined) resolve(url);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const timer = setTimeout(
    () => reject(new Error(`not ready in time\n${stdout}\n${stderr}`)),
    READY_MS,
  );
  ready.catch(() => child.kill('SIGKILL'));
  const url = await ready.finally(() => clearTimeout(timer));
  return {
    url,
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    signal: (name) => void child.kill(name),
    stop: () => end(child, ended, 'SIGTERM'),
    ended,
    kill: async () => void (await end(child, ended, 'SIGKILL')),
  };
}

/** Runs a command to its end. */
export async function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...environment },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

/** A folder that is gone after the test. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/** Creates one on the disk. */
export function temporaryFolder(parent: string = tmpdir()): TemporaryFolder {
  return folderAt(mkdtempSync(join(parent, 'sallyport-')));
}

function folderAt(path: string): TemporaryFolder {
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Runs the file of a command as the user of the test. */
export function installedAt(file: string): Place {
  return { program: [process.execPath, file], stateFolder, handOver: () => {} };
}

/** The command that was built for the tests. */
export const BESIDE: Place = installedAt(COMMAND);

/** Enough for the state of every process that tests run at the same time. */
const MEMORY_LEAST_BYTES = 512 * 2 ** 20;

/**
 * Creates one for the state of a process: in the folder that `STATE_IN_MEMORY` names where the machine has it,
 * since most of a sign-in is the wait for a disk. A process that is killed leaves the same there as on a disk.
 */
export function stateFolder(): TemporaryFolder {
  const { STATE_IN_MEMORY: memory = '' } = process.env;
  return hasRoom(memory) ? folderAt(makeMemoryFolder(memory)) : temporaryFolder();
}

function hasRoom(folder: string): boolean {
  if (folder === '' || !existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= MEMORY_LEAST_BYTES;
}

async function end(
  child: ChildProcess,
  ended: Promise<number | null>,
  signal: NodeJS.Signals,
): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  return ended;
}

/**
 * Runs the commands of a person, in a home of their own.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BESIDE, type Place, temporaryFolder } from '../wire/process.ts';
import type { CommandHost } from './command-host.ts';

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that is under way. */
export interface UnderWay {
  readonly child: ChildProcess;
  /** Waits until stderr holds the text. */
  says(text: string | RegExp): Promise<string>;
  readonly ended: Promise<Ended>;
}

/** A person's home: files, variables, commands. */
export interface Home {
  readonly path: string;
  readonly environment: Record<string, string>;
  /** Runs a command to its end, in the home itself or in another folder; in the home's host if it has one. */
  run(
    args: readonly string[],
    environment?: Readonly<Record<string, string>>,
    workingFolder?: string,
  ): Promise<Ended>;
  /** Starts it as a process of its own. */
  start(
    args: readonly string[],
    environment?: Readonly<Record<string, string>>,
    workingFolder?: string,
  ): UnderWay;
  /** Everything kept below it but tokens and compiled code, for looking for secrets. */
  texts(): readonly string[];
  remove(): void;
}

const LIMIT_MS = 40_000;

/**
 * Makes a home with nothing in it. Tokens go to files, so that no keyring of the machine is touched.
 *
 * @param host - Runs the commands; each is a process of its own when absent.
 * @param place - Where these processes run, and the home lies.
 */
export function makeHome(host?: CommandHost, place?: Place): Home {
  const folder = place?.stateFolder() ?? temporaryFolder();
  const [program = '', ...rest] = (place ?? BESIDE).program;
  const environment: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder.path,
    SALLYPORT_TOKEN_STORE: 'file',
    // One for all homes: it holds compiled code alone.
    XDG_CACHE_HOME: join(process.env['HOME'] ?? folder.path, '.cache'),
  };
  const start: Home['start'] = (args, added = {}, workingFolder = folder.path) => {
    const child = spawn(program, [...rest, ...args], {
      cwd: workingFolder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...environment, ...added },
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    return follow(child);
  };
  return {
    path: folder.path,
    environment,
    start,
    run: (args, added, workingFolder = folder.path) =>
      host === undefined
        ? start(args, added, workingFolder).ended
        : host.run(args, { ...environment, ...added }, workingFolder),
    texts: () =>
      readdirSync(folder.path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.includes('tokens'))
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')),
    remove: () => folder.remove(),
  };
}

/** Collects what a process says. */
function follow(child: ChildProcess): UnderWay {
  let stdout = '';
  let stderr = '';
  let listeners: (() => void)[] = [];
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    notify();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    notify();
  });
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code) => {
      resolve({ code, stdout, stderr });
      notify();
    }),
  );
  return {
    child,
    ended,
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const all = stdout + stderr;
          const isSaid = typeof text === 'string' ? all.includes(text) : text.test(all);
          if (isSaid) resolve(all);
          else if (child.exitCode !== null)
            reject(new Error(`ended with ${child.exitCode} without saying ${text}:\n${all}`));
          else return;
          listeners = listeners.filter((listener) => listener !== look);
        };
        listeners.push(look);
        look();
      }),
  };
}

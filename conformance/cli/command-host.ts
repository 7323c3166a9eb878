/**
 * One process for many commands, where it is not the process that is tested.
 *
 * It loads the command's entry for each anew, and everything below it once. What a command changes for all
 * of its process stays: trust (`--ca-file`), proxies. Signals, terminals and how a process ends are tested
 * with processes of their own.
 *
 * @module
 */

import { type ChildProcess, fork } from 'node:child_process';
import type { MovedClock } from '../wire/moved-clock.ts';
import type { Ended } from './command.ts';

/** The running process. */
export interface CommandHost {
  /** Runs a command to its end; one at a time. */
  run(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    workingFolder: string,
  ): Promise<Ended>;
  stop(): void;
}

const PROGRAM = new URL('./command-host-process.ts', import.meta.url).pathname;

/**
 * Prepares one; the process starts with the first command.
 *
 * @param clock - Followed by all commands.
 */
export function createCommandHost(clock?: MovedClock): CommandHost {
  let child: ChildProcess | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function runNow(command: object): Promise<Ended> {
    child ??= fork(PROGRAM, [], {
      execArgv: ['--conditions=source'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, ...clock?.environment },
    });
    const running = child;
    const { promise, resolve, reject } = Promise.withResolvers<Ended>();
    const onExit = (code: number | null) => {
      child = undefined;
      reject(new Error(`the process of all commands ended with ${code}`));
    };
    running.once('exit', onExit);
    running.once('message', (ended) => resolve(ended as Ended));
    running.send(command);
    return promise.finally(() => running.off('exit', onExit));
  }

  return {
    run(args, environment, workingFolder) {
      const ended = last.then(() => runNow({ args, environment, workingFolder }));
      last = ended.catch(() => undefined);
      return ended;
    },
    stop: () => void child?.kill('SIGKILL'),
  };
}

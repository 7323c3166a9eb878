/**
 * One process for many `sallyport serve`, where it is not the process that is tested.
 *
 * Each has its own graph, state, port, configuration, streams and signals, so that no test changes anything for
 * another; the modules are loaded once. Stays for all: connections that `fetch` keeps. How a process starts,
 * ends and is killed, what it writes without being asked, and memory are tested with processes of their own.
 *
 * @module
 */

import { type ChildProcess, fork } from 'node:child_process';
import { type MovedClock, startMovedClock } from './moved-clock.ts';
import type { Running } from './process.ts';

/** What a test sends: a service to start, or a signal for one. */
export type ToHost =
  | {
      readonly id: number;
      readonly args: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
    }
  | { readonly id: number; readonly signal: NodeJS.Signals };

/** What the process answers: what a service writes, and that it has ended. */
export type FromHost =
  | { readonly id: number; readonly stdout: string }
  | { readonly id: number; readonly stderr: string }
  | { readonly id: number; readonly code: number };

/** The running process. */
export interface ServiceHost {
  /**
   * Starts a service and waits for its `ready <url>` line.
   *
   * @throws With all it wrote when it ends before.
   */
  start(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Running>;
  /** Ends the process, and all services in it. */
  close(): void;
}

const PROGRAM = new URL('./service-host-process.ts', import.meta.url).pathname;
/** Where its process keeps compiled code, as the command does. */
const COMPILED = new URL('../../node_modules/.cache/service-host', import.meta.url).pathname;
let shared: ServiceHost | undefined;

/** The one of this worker. It starts on first use and ends with the worker, also when that is killed. */
export function sharedHost(): ServiceHost {
  shared ??= createServiceHost();
  return shared;
}

/**
 * Prepares one; the process starts with the first service.
 *
 * @param clock - Followed by all services.
 */
export function createServiceHost(clock?: MovedClock): ServiceHost {
  let child: ChildProcess | undefined;
  let ids = 0;

  function open(): ChildProcess {
    const opened = fork(PROGRAM, [], {
      execArgv: ['--conditions=source'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        NODE_COMPILE_CACHE: COMPILED,
        ...clock?.environment,
      },
    });
    // One listener for each service that runs.
    opened.setMaxListeners(0);
    opened.once('exit', () => {
      if (child === opened) child = undefined;
    });
    // The worker ends without asking, and the process with it.
    opened.unref();
    opened.channel?.unref();
    return opened;
  }

  return {
    async start(args, environment) {
      child ??= open();
      ids += 1;
      const running = follow(child, ids);
      child.send({
        id: ids,
        args,
        environment: {
          PATH: process.env['PATH'] ?? '',
          HOME: process.env['HOME'] ?? '',
          ...environment,
        },
      } satisfies ToHost);
      return running;
    },
    close: () => void child?.kill('SIGKILL'),
  };
}

/** A process of services, and the clock they follow. */
export interface MovedHost {
  readonly clock: MovedClock;
  readonly host: ServiceHost;
  close(): Promise<void>;
}

/** Starts a clock, and prepares a process that follows it; settings are those of `startMovedClock`. */
export async function startMovedHost(
  settings: Parameters<typeof startMovedClock>[0] = {},
): Promise<MovedHost> {
  const clock = await startMovedClock(settings);
  const host = createServiceHost(clock);
  return {
    clock,
    host,
    close() {
      host.close();
      return clock.close();
    },
  };
}

/** Collects what a service of a process writes. */
function follow(child: ChildProcess, id: number): Promise<Running> {
  let stdout = '';
  let stderr = '';
  const { promise: ready, resolve, reject } = Promise.withResolvers<string>();
  const { promise: ended, resolve: end } = Promise.withResolvers<number | null>();
  const finish = (code: number | null): void => {
    child.off('message', take);
    child.off('exit', onExit);
    end(code);
    reject(new Error(`the service ended with ${code}\n${stdout}\n${stderr}`));
  };
  const onExit = (): void => finish(null);
  const take = (message: FromHost): void => {
    if (message.id !== id) return;
    if ('code' in message) finish(message.code);
    else if ('stderr' in message) stderr += message.stderr;
    else {
      stdout += message.stdout;
      const url = /^ready (\S+)/m.exec(stdout)?.[1];
      if (url !== undefined) resolve(url);
    }
  };
  child.on('message', take as (message: unknown) => void);
  child.once('exit', onExit);
  let isStopped = false;
  const signal = (name: NodeJS.Signals): void =>
    void child.send({ id, signal: name } satisfies ToHost);
  return ready.then((url) => ({
    url,
    get pid(): number {
      throw new Error('a hosted service has no process of its own');
    },
    stdout: () => stdout,
    stderr: () => stderr,
    signal,
    stop() {
      if (!isStopped && child.connected) signal('SIGTERM');
      isStopped = true;
      return ended;
    },
    kill: () => Promise.reject(new Error('a hosted service has no process of its own')),
  }));
}

/**
 * One actor: its process, started again with a growing pause each time it ends.
 *
 * @module
 */

import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Result } from '@sallyport/protocol';
import type {
  ActorReport,
  FromActor,
  StartActor,
} from '../../../../../examples/platform/messages.ts';
import { systemSchedule } from '../../process/system-schedule.ts';

/** What {@link superviseActor} needs. */
export interface ActorSupervision {
  /** First message to the process. */
  readonly start: StartActor;
  /** Its own variables, read at each start; refused with the cause for which it cannot be started. */
  readonly environment: () => Result<Readonly<Record<string, string>>, string>;
  /** Gets what it writes to stderr. */
  readonly logFile: string;
  readonly onPod: (pod: object) => void;
}

/** How it is. */
export interface ActorState {
  /** Whether it has a process. */
  readonly isRunning: boolean;
  /** What that process said last. */
  readonly report: ActorReport | undefined;
  readonly ports: { readonly http: number; readonly grpc: number } | undefined;
  readonly starts: number;
  /** While it waits for its next start; epoch milliseconds. */
  readonly startsAgainAt: number | undefined;
  /** `until` is when a call was admitted again. */
  readonly lastError:
    | { readonly words: string; readonly since: number; readonly until: number | undefined }
    | undefined;
}

/** An actor that is kept running. */
export interface SupervisedActor {
  readonly state: () => ActorState;
  /** Ends its process, if there is one, and starts it at once. */
  restart(): void;
  /** Resolves when its process has ended. */
  stop(): Promise<void>;
}

const PAUSE_FIRST_MS = 1_000;
const PAUSE_LONGEST_MS = 8_000;
/** A process that ran for this long ended for a new reason. */
const STEADY_MS = 30_000;
const KILL_AFTER_MS = 5_000;

/** The bundle has every chunk in one folder; a checkout runs the example where it stands. */
const IS_CHECKOUT: boolean = extname(import.meta.url) === '.ts';
const PROGRAM: string = fileURLToPath(
  IS_CHECKOUT
    ? new URL('../../../../../examples/platform/actor.ts', import.meta.url)
    : new URL('./platform-actor.js', import.meta.url),
);

/** Starts it, and keeps it running until `stop`. The process gets no variable of this one's environment. */
export function superviseActor(options: ActorSupervision): SupervisedActor {
  const supervisor = new Supervisor(options);
  supervisor.launch();
  return {
    state: () => supervisor.state,
    restart: () => supervisor.restart(),
    stop: () => supervisor.stop(),
  };
}

class Supervisor {
  readonly #options: ActorSupervision;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #cancelStart: (() => void) | undefined;
  #isStopping = false;
  #isRestarting = false;
  #failures = 0;
  #startedAt = 0;
  state: ActorState = {
    isRunning: false,
    report: undefined,
    ports: undefined,
    starts: 0,
    startsAgainAt: undefined,
    lastError: undefined,
  };

  constructor(options: ActorSupervision) {
    this.#options = options;
  }

  launch(): void {
    if (this.#isStopping) return;
    this.#cancelStart?.();
    this.#cancelStart = undefined;
    this.#startedAt = Date.now();
    const environment = this.#options.environment();
    this.state = {
      ...this.state,
      report: undefined,
      starts: this.state.starts + 1,
      startsAgainAt: undefined,
    };
    if (!environment.ok) {
      this.#startLater(environment.error);
      return;
    }
    try {
      this.#fork(environment.value);
    } catch (failure) {
      // No memory, no process or no disk left.
      this.#startLater(`it cannot be started: ${String(failure)}`);
    }
  }

  restart(): void {
    this.#failures = 0;
    if (this.#child === undefined) {
      this.launch();
      return;
    }
    this.#isRestarting = true;
    this.#child.kill('SIGTERM');
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#cancelStart?.();
    const child = this.#child;
    if (child === undefined) return;
    child.kill('SIGTERM');
    const cancel = systemSchedule(KILL_AFTER_MS, () => void child.kill('SIGKILL'));
    await this.#ended;
    cancel();
  }

  #fork(environment: Readonly<Record<string, string>>): void {
    const log = openSync(this.#options.logFile, 'a', 0o600);
    const child = fork(PROGRAM, [], {
      execArgv: IS_CHECKOUT ? ['--conditions=source'] : [],
      stdio: ['ignore', 'ignore', log, 'ipc'],
      env: environment,
    });
    closeSync(log);
    this.#child = child;
    this.state = { ...this.state, isRunning: true };
    let cause: string | undefined;
    child.on('message', (message: FromActor) => {
      if (message.kind === 'ending') ({ cause } = message);
      else this.#receive(message);
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    const finish = (words: string): void => {
      resolve();
      this.#finish(child, words);
    };
    // Without a process there is no exit.
    child.once('error', (failure) => finish(`it cannot be started: ${failure.message}`));
    // After its exit and its last message.
    child.once('close', (code, signal) => finish(cause ?? `it ended with ${signal ?? code}`));
    child.send(this.#options.start, () => {});
  }

  #finish(child: ChildProcess, words: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    this.state = { ...this.state, isRunning: false, ports: undefined };
    if (this.#isStopping) return;
    if (this.#isRestarting) this.launch();
    else this.#startLater(words);
    this.#isRestarting = false;
  }

  #receive(message: Exclude<FromActor, { readonly kind: 'ending' }>): void {
    switch (message.kind) {
      case 'report':
        if (message.failure === undefined) this.#noteEnd();
        else this.#note(message.failure);
        this.state = { ...this.state, report: message };
        return;
      case 'listening':
        this.state = { ...this.state, ports: { http: message.http, grpc: message.grpc } };
        return;
      case 'pod':
        this.#options.onPod(message.pod);
    }
  }

  /** The same error counts from its begin, unless a call was admitted since. */
  #note(words: string): void {
    const { lastError } = this.state;
    if (lastError?.words === words && lastError.until === undefined) return;
    this.state = { ...this.state, lastError: { words, since: Date.now(), until: undefined } };
  }

  #noteEnd(): void {
    const { lastError } = this.state;
    if (lastError !== undefined && lastError.until === undefined)
      this.state = { ...this.state, lastError: { ...lastError, until: Date.now() } };
  }

  #startLater(words: string): void {
    this.#note(words);
    this.#failures = Date.now() - this.#startedAt > STEADY_MS ? 1 : this.#failures + 1;
    const pause = Math.min(PAUSE_LONGEST_MS, PAUSE_FIRST_MS * 2 ** (this.#failures - 1));
    this.state = { ...this.state, startsAgainAt: Date.now() + pause };
    this.#cancelStart = systemSchedule(pause, () => this.launch());
  }
}

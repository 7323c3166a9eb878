/**
 * Upkeep of the local store's file, on a thread of its own: removing what has ended takes milliseconds
 * that no request should wait for.
 *
 * @module
 */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { SallyportError } from '@sallyport/protocol';
import { describeFailure } from '../../log/log.ts';
import type { Schedule } from '../../time/schedule.ts';

/** What the thread is told: remove what had ended by `time`, at most `limit` sessions. */
export interface UpkeepOrder {
  readonly time: number;
  readonly limit: number;
}

/** What it says: that it runs, once, and then one answer to each order. */
export type UpkeepMessage = 'running' | UpkeepAnswer;

/** What it answers. */
export type UpkeepAnswer =
  | {
      readonly ok: true;
      /** Ids of the removed sessions. */
      readonly swept: readonly number[];
    }
  | {
      readonly ok: false;
      readonly message: string;
      /** The system's or the database's, where the failure has one. */
      readonly code: string | undefined;
    };

/** The thread. Once it was started, it is started again after each failure. */
export interface Upkeep {
  /**
   * Begins to carry over what is written; resolves once the thread runs. Does not look at the store's file.
   *
   * @throws {SallyportError} `SP_THREAD_FAILED` when it does not.
   */
  start(): Promise<void>;
  /**
   * Removes sessions past their end, forgotten claims and old log entries; starts the thread where that was
   * never done. Gives the removed ids; rejects when that failed, at once while the thread is away.
   */
  sweep(order: UpkeepOrder): Promise<readonly number[]>;
  close(): void;
}

/** A thread that was created. It keeps the process alive only between `ref` and `unref`. */
export interface UpkeepThread {
  post(order: UpkeepOrder): void;
  ref(): void;
  unref(): void;
  terminate(): void;
}

/** Who hears a thread. */
export interface UpkeepListener {
  readonly message: (message: UpkeepMessage) => void;
  /** It cannot go on, or has ended. */
  readonly end: (cause: unknown) => void;
}

/** What {@link createUpkeep} needs. */
export interface UpkeepOptions {
  /** The store's file. */
  readonly path: string;
  readonly schedule: Schedule;
  /** Told when the thread has failed, with why, and when one answers again. */
  readonly onThread: (cause?: unknown) => void;
  /** May throw. */
  readonly createThread?: (path: string, listener: UpkeepListener) => UpkeepThread;
}

interface Waiting {
  resolve(swept: readonly number[]): void;
  reject(cause: Error): void;
}

/** One run of the thread, from its creation to its end. */
interface Run {
  readonly thread: UpkeepThread;
  readonly running: PromiseWithResolvers<void>;
  readonly cancelLimit: () => void;
}

/** In MB. The thread holds a few hundred rows at a time. */
const MEMORY = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 64 };
/** A machine that is this busy serves nobody. */
const START_MS = 30_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

/**
 * Creates it for a store file. The thread does not keep the process alive, except while something waits for
 * it. One that failed is started again after a second, then after twice as long each time, up to a minute,
 * until one has answered.
 */
export function createUpkeep({
  path,
  schedule,
  onThread,
  createThread = createWorker,
}: UpkeepOptions): Upkeep {
  let run: Run | undefined;
  let failure: Error | undefined;
  let isClosed = false;
  let retryMs = FIRST_RETRY_MS;
  let cancelRetry: (() => void) | undefined;
  /** Answers come in the order of the orders. */
  let waiting: Waiting[] = [];

  /** The present run, a new one where there is none. @throws What is in the way. */
  function begin(): Run {
    if (run !== undefined) return run;
    cancelRetry?.();
    const running = Promise.withResolvers<void>();
    // Whoever started it may not wait for it.
    running.promise.catch(() => {});
    let begun: Run | undefined;
    const end = (cause: unknown): void => {
      // One that was replaced already takes nothing with it.
      if (begun === undefined || run !== begun) return;
      begun.thread.terminate();
      fail(cause);
    };
    let thread: UpkeepThread;
    try {
      thread = createThread(path, {
        message: (message) => {
          if (begun !== undefined && run === begun) take(begun, message);
        },
        end,
      });
    } catch (cause) {
      throw fail(cause);
    }
    const cancelLimit = schedule(START_MS, () => end(new Error('it does not begin')));
    begun = { thread, running, cancelLimit };
    run = begun;
    return begun;
  }

  function take({ thread, running, cancelLimit }: Run, message: UpkeepMessage): void {
    if (message === 'running') {
      cancelLimit();
      running.resolve();
    } else {
      const next = waiting.shift();
      if (message.ok) next?.resolve(message.swept);
      else next?.reject(Object.assign(new Error(message.message), { code: message.code }));
      if (failure !== undefined) onThread();
      failure = undefined;
      retryMs = FIRST_RETRY_MS;
    }
    if (waiting.length === 0) thread.unref();
  }

  /** Lets everything that waits know, and tries again later. @returns What it is told. */
  function fail(cause: unknown): Error {
    const failed = new SallyportError('SP_THREAD_FAILED', {
      component: 'store:local',
      detail: `the thread that sweeps the session store cannot run: ${describeFailure(cause)}`,
      cause,
    });
    failure = failed;
    cancelRetry = schedule(retryMs, () => {
      try {
        begin();
      } catch {
        // Told, and tried again.
      }
    });
    retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
    leave(failed);
    onThread(failed);
    return failed;
  }

  function leave(cause: Error): void {
    const left = run;
    run = undefined;
    const rejected = waiting;
    waiting = [];
    left?.cancelLimit();
    left?.running.reject(cause);
    for (const each of rejected) each.reject(cause);
  }

  return {
    async start() {
      if (isClosed) throw new Error('the store is closed');
      const { thread, running } = begin();
      thread.ref();
      await running.promise;
    },
    async sweep(order) {
      if (isClosed) throw new Error('the store is closed');
      // It comes back by itself.
      if (run === undefined && failure !== undefined) throw failure;
      const { thread } = begin();
      // A sweep that somebody waits for is work like any other.
      thread.ref();
      const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
      waiting.push({ resolve, reject });
      thread.post(order);
      return promise;
    },
    close() {
      isClosed = true;
      cancelRetry?.();
      const ending = run;
      leave(new Error('the store is closed'));
      ending?.thread.terminate();
    },
  };
}

function createWorker(path: string, { message, end }: UpkeepListener): UpkeepThread {
  // Beside this module, and of its kind: a source file where this is one.
  const file = new URL(`./local-store-upkeep-thread${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(file, { workerData: { path }, resourceLimits: MEMORY });
  worker.unref();
  worker.on('message', message);
  worker.on('error', end);
  worker.on('exit', () => end(new Error('it ended')));
  return {
    post: (order) => worker.postMessage(order),
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    terminate: () => void worker.terminate(),
  };
}

/**
 * Maintenance of the local store's file, on a thread of its own: removing what has ended takes milliseconds
 * that no request waits for.
 *
 * @module
 */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { SallyportError } from '@sallyport/protocol';
import { describeFailure } from '../../log/log.ts';
import type { Schedule } from '../../time/schedule.ts';

/** An order to the thread: remove what had ended by `time`, at most `limit` sessions. */
export interface MaintenanceOrder {
  readonly time: number;
  readonly limit: number;
}

/** A message of the thread: `running` once, then one answer to each order. */
export type MaintenanceMessage = 'running' | MaintenanceAnswer;

/** The thread's answer to an order. */
export type MaintenanceAnswer =
  | {
      readonly ok: true;
      /** Ids of the removed sessions. */
      readonly swept: readonly number[];
    }
  | {
      readonly ok: false;
      readonly message: string;
      /** The error code of the system or the database, where the failure has one. */
      readonly code: string | undefined;
    };

/** The thread. Once it was started, it is started again after each failure. */
export interface StoreMaintenance {
  /**
   * Starts the thread, which checkpoints the write-ahead log; resolves once the thread runs. Does not open the
   * store's file.
   *
   * @throws {SallyportError} `SP_THREAD_FAILED` when the thread does not start.
   */
  start(): Promise<void>;
  /**
   * Removes sessions past their end, expired claims and old log entries; starts the thread if it never ran.
   *
   * @returns The removed ids. Rejects when the sweep failed, at once while the thread is down.
   */
  sweep(order: MaintenanceOrder): Promise<readonly number[]>;
  close(): void;
}

/** A thread that was created. It keeps the process alive only between `ref` and `unref`. */
export interface MaintenanceThread {
  post(order: MaintenanceOrder): void;
  ref(): void;
  unref(): void;
  terminate(): void;
}

/** Receives what a thread reports. */
export interface MaintenanceListener {
  readonly message: (message: MaintenanceMessage) => void;
  /** The thread failed, or has ended. */
  readonly end: (cause: unknown) => void;
}

/** What {@link createStoreMaintenance} needs. */
export interface StoreMaintenanceOptions {
  /** The store's file. */
  readonly path: string;
  readonly schedule: Schedule;
  /** Called with the cause when the thread fails, and without one when a thread answers again. */
  readonly onThread: (cause?: unknown) => void;
  /** May throw. */
  readonly createThread?: (path: string, listener: MaintenanceListener) => MaintenanceThread;
}

interface Waiting {
  resolve(swept: readonly number[]): void;
  reject(cause: Error): void;
}

/** One run of the thread, from its creation to its end. */
interface Run {
  readonly thread: MaintenanceThread;
  readonly running: PromiseWithResolvers<void>;
  readonly cancelLimit: () => void;
}

/** In MB. The thread holds a few hundred rows at a time. */
const MEMORY = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 64 };
/** Limit for a thread to begin; a machine that takes longer is overloaded. */
const START_MS = 30_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

/**
 * Creates the maintenance of a store file. The thread keeps the process alive only while a caller waits for it.
 * A thread that failed is started again after 1 s, then after twice as long each time, up to 60 s, until one has
 * answered.
 */
export function createStoreMaintenance({
  path,
  schedule,
  onThread,
  createThread = createWorker,
}: StoreMaintenanceOptions): StoreMaintenance {
  let run: Run | undefined;
  let failure: Error | undefined;
  let isClosed = false;
  let retryMs = FIRST_RETRY_MS;
  let cancelRetry: (() => void) | undefined;
  /** Answers come in the order of the orders. */
  let waiting: Waiting[] = [];

  /** The present run, or a new one. @throws Why no thread can be created. */
  function begin(): Run {
    if (run !== undefined) return run;
    cancelRetry?.();
    const running = Promise.withResolvers<void>();
    // The caller may not wait for this promise.
    running.promise.catch(() => {});
    let begun: Run | undefined;
    const end = (cause: unknown): void => {
      // A run that was replaced already affects nothing.
      if (begun === undefined || run !== begun) return;
      begun.thread.terminate();
      fail(cause);
    };
    let thread: MaintenanceThread;
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

  function take({ thread, running, cancelLimit }: Run, message: MaintenanceMessage): void {
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

  /** Rejects everything that waits, and schedules another try. @returns The error they are rejected with. */
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
        // `fail` has reported it and scheduled another try.
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
      // The scheduled retry starts the thread again.
      if (run === undefined && failure !== undefined) throw failure;
      const { thread } = begin();
      // A sweep with a waiting caller keeps the process alive.
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

function createWorker(path: string, { message, end }: MaintenanceListener): MaintenanceThread {
  // In the same folder and with the same extension: a source file when this one is.
  const file = new URL(
    `./local-store-maintenance-thread${extname(import.meta.url)}`,
    import.meta.url,
  );
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

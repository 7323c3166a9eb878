/**
 * Upkeep of the local store's file, on a thread of its own: removing what has ended takes milliseconds
 * that no request should wait for.
 *
 * @module
 */

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** What the thread is told: remove what had ended by `time`, at most `limit` sessions. */
export interface UpkeepOrder {
  readonly time: number;
  readonly limit: number;
}

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

/** The thread, started when there is something to do. */
export interface Upkeep {
  /** Begins to carry over what is written. Cheap when it has begun. */
  start(): void;
  /** Removes sessions past their end, forgotten claims and old log entries. Gives the removed ids; rejects when that failed. */
  sweep(order: UpkeepOrder): Promise<readonly number[]>;
  close(): void;
}

interface Waiting {
  resolve(swept: readonly number[]): void;
  reject(cause: Error): void;
}

/** In MB. The thread holds a few hundred rows at a time. */
const MEMORY = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 64 };

/** Creates it for a store file. It does not keep the process alive, and is started again after a failure. */
export function createUpkeep(path: string): Upkeep {
  let thread: Worker | undefined;
  let isClosed = false;
  /** Answers come in the order of the orders. */
  let waiting: Waiting[] = [];

  function start(): Worker {
    // Beside this module, and of its kind: a source file where this is one.
    const file = new URL(`./local-store-upkeep-thread${extname(import.meta.url)}`, import.meta.url);
    const started = new Worker(file, { workerData: { path }, resourceLimits: MEMORY });
    started.unref();
    started.on('message', (answer: UpkeepAnswer) => {
      const next = waiting.shift();
      if (answer.ok) next?.resolve(answer.swept);
      else next?.reject(Object.assign(new Error(answer.message), { code: answer.code }));
      if (waiting.length === 0) started.unref();
    });
    const endOne = (cause: Error) => {
      // One that was replaced already takes nothing with it.
      if (thread === started) end(cause);
    };
    started.on('error', (cause) => endOne(cause instanceof Error ? cause : new Error('unknown')));
    started.on('exit', () => endOne(new Error('the upkeep thread ended')));
    return started;
  }

  function end(cause: Error): void {
    thread = undefined;
    const rejected = waiting;
    waiting = [];
    for (const each of rejected) each.reject(cause);
  }

  return {
    start() {
      if (!isClosed) thread ??= start();
    },
    sweep(order) {
      thread ??= start();
      // A sweep that somebody waits for is work like any other.
      thread.ref();
      const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
      waiting.push({ resolve, reject });
      thread.postMessage(order);
      return promise;
    },
    close() {
      isClosed = true;
      const ending = thread;
      end(new Error('the store is closed'));
      void ending?.terminate();
    },
  };
}

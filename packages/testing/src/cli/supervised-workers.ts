/**
 * Workers that do what a test says, in a time that passes when it says so.
 *
 * @module
 */

import type { LogFields } from '@sallyport/server/observe';
import { type Supervision, superviseWorkers } from '../../../cli/src/serve/supervise-workers.ts';
import type { StartWorker, WorkerStart } from '../../../cli/src/serve/worker-process.ts';

/** A worker as it was started, and what was asked of it. */
export interface StartedWorker extends WorkerStart {
  /** What `startWith` was given. */
  readonly source: string;
  readonly pid: number;
  stops: number;
  readonly drainDelays: (number | undefined)[];
  kills: number;
}

/** Supervised workers, each meant by its index in the order of their starts. */
export interface SupervisedWorkers extends Supervision {
  readonly started: readonly StartedWorker[];
  readonly timers: ReadonlySet<unknown>;
  startWith(source: string): StartWorker;
  timesReady(): number;
  linesOf(event: string): readonly LogFields[];
  listen(index: number): void;
  fail(index: number, sentence: string): void;
  end(index: number, signal?: string): void;
  /** From now on. */
  failToStart(): void;
  stop(): Promise<void>;
  pass(ms: number): void;
}

/** Starts them, with the source `old`. */
export function superviseForTest({
  count = 2,
  drainDelayMs = 0,
}: {
  readonly count?: number;
  readonly drainDelayMs?: number;
} = {}): SupervisedWorkers {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  const started: StartedWorker[] = [];
  const lines: (LogFields & { readonly event: string })[] = [];
  const stop = Promise.withResolvers<string>();
  let failsToStart = false;
  let timesReady = 0;
  const startWith =
    (source: string): StartWorker =>
    (start) => {
      const worker: StartedWorker = {
        ...start,
        source,
        pid: 100 + started.length,
        stops: 0,
        drainDelays: [],
        kills: 0,
      };
      started.push(worker);
      if (failsToStart) queueMicrotask(() => start.onEnd({}));
      return {
        pid: worker.pid,
        stop(how) {
          worker.stops += 1;
          worker.drainDelays.push(how.drainDelayMs);
        },
        kill() {
          worker.kills += 1;
        },
      };
    };
  const { ended, roll } = superviseWorkers({
    count,
    startWorker: startWith('old'),
    stopRequested: stop.promise,
    drainDelayMs: () => drainDelayMs,
    onReady: () => {
      timesReady += 1;
    },
    now: () => now,
    schedule(afterMs, callback) {
      const timer = { at: now + afterMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    log: (_, event, fields) => lines.push({ event, ...fields }),
  });
  return {
    ended,
    roll,
    startWith,
    started,
    timesReady: () => timesReady,
    timers,
    linesOf: (event: string) => lines.filter((line) => line.event === event),
    listen(index: number) {
      started[index]?.onReport({ kind: 'listening' });
    },
    fail(index: number, sentence: string) {
      started[index]?.onReport({ kind: 'failed', sentence });
    },
    end(index: number, signal = 'SIGKILL') {
      started[index]?.onEnd({ signal });
    },
    failToStart() {
      failsToStart = true;
    },
    async stop() {
      stop.resolve('SIGTERM');
      await stop.promise;
    },
    pass(ms: number) {
      now += ms;
      for (const timer of [...timers])
        if (timer.at <= now && timers.delete(timer)) timer.callback();
    },
  };
}

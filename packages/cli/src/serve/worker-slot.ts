/**
 * A place for one worker: its number, the process that holds it now, and when that is started again.
 *
 * @module
 */

import { createRestartPause, type RestartPause } from './restart-pause.ts';
import type { StartWorker, WorkerExit, WorkerProcess, WorkerReport } from './worker-process.ts';

/** A worker has ten seconds for the requests under way, fifteen for renewals, and these two to end. */
export const STOP_MS = 27_000;

/** A worker that was started. */
export interface Worker {
  readonly process: WorkerProcess;
  isListening: boolean;
  /** Why it does not listen, in its own words; reported in place of how it ended. */
  failure: string | undefined;
  /** Resolves when it listens (`true`) or has ended (`false`). */
  readonly settled: PromiseWithResolvers<boolean>;
  readonly ended: PromiseWithResolvers<void>;
}

/** The place of one worker. Several workers share it while one takes over from another. */
export interface WorkerSlot {
  /** From 1. */
  readonly number: number;
  readonly pause: RestartPause;
  startWorker: StartWorker;
  /** The worker that serves; absent between two of them. */
  current: Worker | undefined;
  cancelRestart: (() => void) | undefined;
}

/** What a worker's supervisor does when the worker reports or ends. */
export interface WorkerListeners {
  readonly onReport: (slot: WorkerSlot, worker: Worker, report: WorkerReport) => void;
  readonly onEnd: (slot: WorkerSlot, worker: Worker, exit: WorkerExit) => void;
}

/**
 * Creates the slots, in the order of their numbers. Starts nothing.
 *
 * @param now - Epoch milliseconds.
 */
export function createWorkerSlots(
  count: number,
  startWorker: StartWorker,
  now: () => number,
): readonly WorkerSlot[] {
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    pause: createRestartPause(now),
    startWorker,
    current: undefined,
    cancelRestart: undefined,
  }));
}

/** Starts a worker under a slot's number. Does not make it the slot's current one. */
export function startInSlot(
  slot: WorkerSlot,
  startWorker: StartWorker,
  isReplacement: boolean,
  { onReport, onEnd }: WorkerListeners,
): Worker {
  const worker: Worker = {
    process: startWorker({
      number: slot.number,
      isReplacement,
      onReport: (report) => onReport(slot, worker, report),
      onEnd: (exit) => onEnd(slot, worker, exit),
    }),
    isListening: false,
    failure: undefined,
    settled: Promise.withResolvers(),
    ended: Promise.withResolvers(),
  };
  return worker;
}

/**
 * Keeps a number of workers running, replaces them one after the other, and ends them together.
 *
 * @module
 */

import { formatConfigProblem } from '@sallyport/config';
import { accept, type Result, refuse, SallyportError } from '@sallyport/protocol';
import type { Schedule } from '@sallyport/server';
import type { Log } from '@sallyport/server/observe';
import { type RollOutcome, rollWorkers } from './roll-workers.ts';
import type { StartFailure, StartWorker, WorkerExit, WorkerReport } from './worker-process.ts';
import {
  createWorkerSlots,
  STOP_MS,
  startInSlot,
  type Worker,
  type WorkerSlot,
} from './worker-slot.ts';

/** Between two starts of a worker that does not get ready while others serve. */
const GIVEN_UP_PAUSE_MS = 5_000;

/** Settings and ports of {@link superviseWorkers}. */
export interface SupervisionOptions {
  readonly count: number;
  readonly startWorker: StartWorker;
  /** Resolves when the process is asked to end, to the signal's name. */
  readonly stopRequested: Promise<string>;
  /** Milliseconds for which workers go on taking connections once they were asked to end. */
  readonly drainDelayMs: () => number;
  /** Called once, when every worker listens. */
  readonly onReady: () => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** A waiting timer has to keep the process alive: between two workers nothing else does. */
  readonly schedule: Schedule;
  readonly log: Log;
}

/** Running workers. */
export interface Supervision {
  /**
   * Resolves when the last has ended after a stop.
   *
   * @returns Why the workers could not be started at first; the caller reports it.
   * @throws {SallyportError} `SP_WORKER_FAILED` when a worker ended three times within 10 s before it
   *   listened, before all were ready or while no other serves; all have been stopped by then.
   */
  readonly ended: Promise<Result<undefined, StartFailure>>;
  /**
   * Replaces the workers, one after the other: a successor is started, and only when it listens its
   * predecessor is asked to finish. One roll at a time.
   *
   * @param startWorker - Starts the successors, which listen only once they are ready, and from now on those
   *   that replace one of them.
   * @param signal - Aborts when the roll is not wanted any more: the other workers stay as they are.
   *
   * @returns Why it went no further. What was replaced until then stays so.
   */
  roll(startWorker: StartWorker, signal: AbortSignal): Promise<RollOutcome>;
}

/**
 * Starts the workers and restarts those that end unexpectedly. No session and no request passes through here.
 *
 * While the workers start for the first time, a failure of one ends them all: a taken port or a missing secret
 * would stop the others, too. A later failure is logged and the start tried again, because the others serve.
 */
export function superviseWorkers(options: SupervisionOptions): Supervision {
  const { count, onReady, now, schedule, log } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Result<undefined, StartFailure>>();
  const allListened = Promise.withResolvers<void>();
  const slots = createWorkerSlots(count, options.startWorker, now);
  /** Every worker that has not ended, successors that start and predecessors that finish included. */
  const running = new Map<Worker, WorkerSlot>();
  let isReady = false;
  let settle: (() => void) | undefined;
  let cancelKill: (() => void) | undefined;

  void options.stopRequested.then(stopFor);
  for (const slot of slots) launch(slot);
  return { ended: promise, roll };

  function launch(slot: WorkerSlot): void {
    slot.pause.started();
    slot.current = begin(slot, slot.startWorker, false);
  }

  function begin(slot: WorkerSlot, startWorker: StartWorker, isReplacement: boolean): Worker {
    const listeners = { onReport: hear, onEnd: finish };
    const worker = startInSlot(slot, startWorker, isReplacement, listeners);
    running.set(worker, slot);
    return worker;
  }

  function hear(slot: WorkerSlot, worker: Worker, report: WorkerReport): void {
    const { number } = slot;
    if (report.kind === 'listening') {
      worker.isListening = true;
      log('info', 'worker_listening', { worker: number, pid: worker.process.pid });
      worker.settled.resolve(true);
      if (isReady || settle !== undefined) return;
      if (!slots.every(({ current }) => current?.isListening === true)) return;
      isReady = true;
      allListened.resolve();
      onReady();
      return;
    }
    worker.failure = describe(report);
    if (isReady) log('error', 'worker_failed', { worker: number, failure: worker.failure });
    else stop(() => resolve(refuse(report)));
  }

  function finish(slot: WorkerSlot, worker: Worker, exit: WorkerExit): void {
    running.delete(worker);
    worker.settled.resolve(false);
    worker.ended.resolve();
    const isCurrent = slot.current === worker;
    if (isCurrent) slot.current = undefined;
    if (settle !== undefined) settleWhenAllEnded();
    // The end of a successor or predecessor is for the roll to handle.
    else if (isCurrent) restart(slot, worker, exit);
  }

  function restart(
    slot: WorkerSlot,
    { process: { pid }, isListening }: Worker,
    exit: WorkerExit,
  ): void {
    const worker = slot.number;
    const pause = slot.pause.ended(isListening);
    // Once all have listened, and as long as another one serves, the failure of this one does not end them.
    const isServing = isReady && slots.some(({ current }) => current?.isListening === true);
    if (pause === 'give_up' && !isServing) {
      log('error', 'worker_ended', { worker, pid, ...exit });
      stop(() => reject(startFailed(worker)));
      return;
    }
    const pauseMs = pause === 'give_up' ? GIVEN_UP_PAUSE_MS : pause;
    log('error', 'worker_ended', { worker, pid, ...exit, restart_after_ms: pauseMs });
    slot.cancelRestart = schedule(pauseMs, () => launch(slot));
  }

  async function roll(startWorker: StartWorker, signal: AbortSignal): Promise<RollOutcome> {
    // A successor can relieve only a worker that serves.
    await allListened.promise;
    const workers = {
      slots,
      begin: (slot: WorkerSlot, start: StartWorker) => begin(slot, start, true),
      isRunning: (worker: Worker) => running.has(worker),
      restart: (slot: WorkerSlot, ended: Worker) => restart(slot, ended, {}),
      kill,
      isStopping: () => settle !== undefined,
      schedule,
    };
    return rollWorkers(workers, startWorker, signal);
  }

  function stopFor(signal: string): void {
    log('info', 'stopping', { signal });
    stop(() => resolve(accept(undefined)));
  }

  /** The first reason to stop decides how `ended` settles. */
  function stop(settleEnded: () => void): void {
    if (settle !== undefined) return;
    settle = settleEnded;
    allListened.resolve();
    const drainDelayMs = isReady ? options.drainDelayMs() : 0;
    for (const slot of slots) slot.cancelRestart?.();
    for (const { process } of running.keys()) process.stop({ drainDelayMs });
    cancelKill = schedule(drainDelayMs + STOP_MS, () => {
      for (const [worker, slot] of running) kill(slot, worker);
    });
    settleWhenAllEnded();
  }

  function kill({ number }: WorkerSlot, { process }: Worker): void {
    log('warn', 'worker_killed', { worker: number, pid: process.pid });
    process.kill();
  }

  function settleWhenAllEnded(): void {
    if (running.size > 0) return;
    cancelKill?.();
    settle?.();
  }
}

function describe(failure: StartFailure): string {
  return failure.kind === 'failed'
    ? failure.sentence
    : failure.problems.map(formatConfigProblem).join('; ');
}

function startFailed(worker: number): SallyportError {
  return new SallyportError('SP_WORKER_FAILED', {
    component: `worker:${worker}`,
    detail: 'it ended 3 times within 10 s before it listened; the log above says how',
  });
}

/**
 * Keeps a number of workers running, and ends them together.
 *
 * @module
 */

import { formatConfigProblem } from '@sallyport/config';
import { accept, type Result, refuse, SallyportError } from '@sallyport/protocol';
import type { Log, Schedule } from '@sallyport/server';
import { createRestartPause, type RestartPause } from './restart-pause.ts';
import type {
  StartFailure,
  StartWorker,
  WorkerExit,
  WorkerProcess,
  WorkerReport,
} from './worker-process.ts';

/** A worker has ten seconds for the requests under way, fifteen for renewals, and these two to end. */
const STOP_MS = 27_000;
/** One that does not get ready is tried again this often while others serve. */
const GIVEN_UP_PAUSE_MS = 5_000;

/** Settings and ports of {@link superviseWorkers}. */
export interface SupervisionOptions {
  readonly count: number;
  readonly startWorker: StartWorker;
  /** Resolves when somebody wants the process to end. */
  readonly stopRequested: Promise<string>;
  /** Called once, when every worker listens. */
  readonly onReady: () => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** A waiting timer has to keep the process alive: between two workers nothing else does. */
  readonly schedule: Schedule;
  readonly log: Log;
}

interface Place {
  readonly number: number;
  readonly pause: RestartPause;
  process: WorkerProcess | undefined;
  isListening: boolean;
  cancelRestart: (() => void) | undefined;
}

/**
 * Starts the workers, replaces those that end unexpectedly, and resolves when the last has ended after
 * a stop. Nothing that concerns a session or a request passes through here.
 *
 * What keeps a worker from starting ends them all while they start for the first time: it is a taken
 * port or a missing secret, and would keep the others too. Later it is logged, and tried again, because
 * the others are still serving.
 *
 * @returns Why the workers could not be started at first; the caller tells it.
 * @throws {SallyportError} `SP_WORKER_FAILED` when a worker ended three times within 10 s before it
 *   listened, before all were ready or while no other serves; all have been stopped by then.
 */
export function superviseWorkers(
  options: SupervisionOptions,
): Promise<Result<undefined, StartFailure>> {
  const { count, startWorker, onReady, now, schedule, log } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Result<undefined, StartFailure>>();
  const places: readonly Place[] = Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    pause: createRestartPause(now),
    process: undefined,
    isListening: false,
    cancelRestart: undefined,
  }));
  let isReady = false;
  let settle: (() => void) | undefined;
  let cancelKill: (() => void) | undefined;

  void options.stopRequested.then(stopFor);
  for (const place of places) launch(place);
  return promise;

  function launch(place: Place): void {
    place.pause.started();
    place.isListening = false;
    const { number } = place;
    place.process = startWorker({
      number,
      onReport: (report) => hear(place, report),
      onEnd: (exit) => replace(place, exit),
    });
  }

  function hear(place: Place, report: WorkerReport): void {
    const worker = place.number;
    if (report.kind === 'listening') {
      place.isListening = true;
      log('info', 'worker_listening', { worker, pid: place.process?.pid });
      if (isReady || settle !== undefined || !places.every((each) => each.isListening)) return;
      isReady = true;
      onReady();
      return;
    }
    if (isReady) log('error', 'worker_failed', { worker, failure: describe(report) });
    else stop(() => resolve(refuse(report)));
  }

  function replace(place: Place, exit: WorkerExit): void {
    const worker = place.number;
    const pid = place.process?.pid;
    place.process = undefined;
    if (settle !== undefined) {
      settleWhenAllEnded();
      return;
    }
    const pause = place.pause.ended(place.isListening);
    place.isListening = false;
    // Once all have served, and as long as others do, whatever ails this one is no reason to end them.
    const isServing = isReady && places.some((each) => each.isListening);
    const isHopeless = pause === 'give_up' && !isServing;
    if (isHopeless) {
      log('error', 'worker_ended', { worker, pid, ...exit });
      const failure = new SallyportError('SP_WORKER_FAILED', {
        component: `worker:${worker}`,
        detail: 'it ended 3 times within 10 s before it listened; the log above says how',
      });
      stop(() => reject(failure));
      return;
    }
    const pauseMs = pause === 'give_up' ? GIVEN_UP_PAUSE_MS : pause;
    log('error', 'worker_ended', { worker, pid, ...exit, restart_after_ms: pauseMs });
    place.cancelRestart = schedule(pauseMs, () => launch(place));
  }

  function stopFor(signal: string): void {
    log('info', 'stopping', { signal });
    stop(() => resolve(accept(undefined)));
  }

  /** The first reason to stop decides what is told of it. */
  function stop(told: () => void): void {
    if (settle !== undefined) return;
    settle = told;
    for (const place of places) {
      place.cancelRestart?.();
      place.process?.stop();
    }
    cancelKill = schedule(STOP_MS, killAll);
    settleWhenAllEnded();
  }

  function killAll(): void {
    for (const { number, process } of places) {
      if (process === undefined) continue;
      log('warn', 'worker_killed', { worker: number, pid: process.pid });
      process.kill();
    }
  }

  function settleWhenAllEnded(): void {
    if (places.some((place) => place.process !== undefined)) return;
    cancelKill?.();
    settle?.();
  }
}

function describe(failure: StartFailure): string {
  return failure.kind === 'failed'
    ? failure.sentence
    : failure.problems.map(formatConfigProblem).join('; ');
}

/**
 * Keeps a number of workers running, replaces them one after the other, and ends them together.
 *
 * @module
 */

import { formatConfigProblem } from '@sallyport/config';
import { accept, type Result, refuse, SallyportError } from '@sallyport/protocol';
import type { Schedule } from '@sallyport/server';
import type { Log } from '@sallyport/server/observe';
import type { ReloadRefusal } from './reloads.ts';
import { createRestartPause, type RestartPause } from './restart-pause.ts';
import type {
  StartFailure,
  StartWorker,
  WorkerExit,
  WorkerProcess,
  WorkerReport,
  WorkerStop,
} from './worker-process.ts';

/** A worker has ten seconds for the requests under way, fifteen for renewals, and these two to end. */
const STOP_MS = 27_000;
/** One that does not get ready is tried again this often while others serve. */
const GIVEN_UP_PAUSE_MS = 5_000;
/** Longer than a worker itself waits until it is ready: it says better what is missing. */
const TAKEOVER_MS = 45_000;
/** Others go on listening on the same port. */
const AT_ONCE: WorkerStop = { drainDelayMs: undefined };

/** Settings and ports of {@link superviseWorkers}. */
export interface SupervisionOptions {
  readonly count: number;
  readonly startWorker: StartWorker;
  /** Resolves when somebody wants the process to end. */
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
   * @returns Why the workers could not be started at first; the caller tells it.
   * @throws {SallyportError} `SP_WORKER_FAILED` when a worker ended three times within 10 s before it
   *   listened, before all were ready or while no other serves; all have been stopped by then.
   */
  readonly ended: Promise<Result<undefined, StartFailure>>;
  /**
   * Puts a new worker in the place of each, one after the other: a new one is started, and only when it
   * listens its predecessor is asked to finish. One roll at a time.
   *
   * @param startWorker - Starts the new ones, which listen only once they are ready; and from now on
   *   whoever has to replace one of them.
   * @param signal - Aborts when this is not wanted any more: the rest stay as they are.
   *
   * @returns Why it went no further. What was replaced until then stays so.
   */
  roll(
    startWorker: StartWorker,
    signal: AbortSignal,
  ): Promise<Result<undefined, Exclude<ReloadRefusal, { kind: 'problems' }>>>;
}

interface Worker {
  readonly process: WorkerProcess;
  isListening: boolean;
  /** Told instead of how it ended. */
  failure: string | undefined;
  /** Resolves when it listens (`true`) or has ended (`false`). */
  readonly settled: PromiseWithResolvers<boolean>;
  readonly ended: PromiseWithResolvers<void>;
}

interface WorkerSlot {
  readonly number: number;
  readonly pause: RestartPause;
  startWorker: StartWorker;
  current: Worker | undefined;
  cancelRestart: (() => void) | undefined;
}

/**
 * Starts the workers and replaces those that end unexpectedly. Nothing that concerns a session or a
 * request passes through here.
 *
 * What keeps a worker from starting ends them all while they start for the first time: it is a taken
 * port or a missing secret, and would keep the others too. Later it is logged, and tried again, because
 * the others are still serving.
 */
export function superviseWorkers(options: SupervisionOptions): Supervision {
  const { count, onReady, now, schedule, log } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Result<undefined, StartFailure>>();
  const allListened = Promise.withResolvers<void>();
  const slots: readonly WorkerSlot[] = Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    pause: createRestartPause(now),
    startWorker: options.startWorker,
    current: undefined,
    cancelRestart: undefined,
  }));
  /** Every worker that has not ended, those included that start in another's place or finish. */
  const running = new Map<Worker, WorkerSlot>();
  let isReady = false;
  let settle: (() => void) | undefined;
  let cancelKill: (() => void) | undefined;

  void options.stopRequested.then(stopFor);
  for (const slot of slots) launch(slot);
  return { ended: promise, roll };

  function launch(slot: WorkerSlot): void {
    slot.pause.started();
    slot.current = begin(slot, slot.startWorker, { isReplacement: false });
  }

  function begin(
    slot: WorkerSlot,
    startWorker: StartWorker,
    { isReplacement }: { readonly isReplacement: boolean },
  ): Worker {
    const worker: Worker = {
      process: startWorker({
        number: slot.number,
        isReplacement,
        onReport: (report) => hear(slot, worker, report),
        onEnd: (exit) => finish(slot, worker, exit),
      }),
      isListening: false,
      failure: undefined,
      settled: Promise.withResolvers(),
      ended: Promise.withResolvers(),
    };
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
    // Whoever starts a replacement, or asked for the end, hears of it there.
    else if (isCurrent) restart(slot, worker, exit);
  }

  function restart(
    slot: WorkerSlot,
    { process: { pid }, isListening }: Worker,
    exit: WorkerExit,
  ): void {
    const worker = slot.number;
    const pause = slot.pause.ended(isListening);
    // Once all have served, and as long as others do, whatever ails this one is no reason to end them.
    const isServing = isReady && slots.some(({ current }) => current?.isListening === true);
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
    slot.cancelRestart = schedule(pauseMs, () => launch(slot));
  }

  async function roll(
    startWorker: StartWorker,
    signal: AbortSignal,
  ): ReturnType<Supervision['roll']> {
    // Before that nobody serves whom a replacement could relieve.
    await allListened.promise;
    for (const slot of slots) {
      if (signal.aborted || settle !== undefined) return refuse({ kind: 'superseded' });
      const failure = await replace(slot, startWorker, signal);
      if (signal.aborted || settle !== undefined) return refuse({ kind: 'superseded' });
      if (failure !== undefined) return refuse({ kind: 'failed', sentence: failure });
    }
    return accept(undefined);
  }

  /** Returns why the slot has not been taken over. */
  async function replace(
    slot: WorkerSlot,
    startWorker: StartWorker,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const next = begin(slot, startWorker, { isReplacement: true });
    let isGivenUp = false;
    const giveUp = (): void => {
      isGivenUp = true;
      next.process.stop(AT_ONCE);
    };
    signal.addEventListener('abort', giveUp);
    let isLate = false;
    const cancel = schedule(TAKEOVER_MS, () => {
      isLate = true;
      next.process.kill();
    });
    const isListening = await next.settled.promise;
    cancel();
    signal.removeEventListener('abort', giveUp);
    if (!isListening) {
      const why = isLate ? `it did not listen within ${TAKEOVER_MS / 1_000} s` : next.failure;
      return `worker ${slot.number} could not be replaced: ${why ?? 'its successor ended'}`;
    }
    // It listened, and was told to end, in the same moment: the one before stays.
    if (isGivenUp) {
      await relieve(slot, next);
      return undefined;
    }
    const before = slot.current;
    slot.cancelRestart?.();
    slot.startWorker = startWorker;
    slot.pause.started();
    slot.current = running.has(next) ? next : undefined;
    // It may have ended in the moment in which it listened.
    if (slot.current === undefined) restart(slot, next, {});
    if (before !== undefined) await relieve(slot, before);
    return undefined;
  }

  /** Lets a worker finish that another has taken the place of; resolves when it has ended. */
  async function relieve(slot: WorkerSlot, worker: Worker): Promise<void> {
    if (settle === undefined) worker.process.stop(AT_ONCE);
    const cancel = schedule(STOP_MS, () => kill(slot, worker));
    await worker.ended.promise;
    cancel();
  }

  function stopFor(signal: string): void {
    log('info', 'stopping', { signal });
    stop(() => resolve(accept(undefined)));
  }

  /** The first reason to stop decides what is told of it. */
  function stop(told: () => void): void {
    if (settle !== undefined) return;
    settle = told;
    allListened.resolve();
    const drainDelayMs = isReady ? options.drainDelayMs() : 0;
    for (const slot of slots) slot.cancelRestart?.();
    for (const { process } of running.keys()) process.stop({ drainDelayMs });
    cancelKill = schedule(drainDelayMs + STOP_MS, killAll);
    settleWhenAllEnded();
  }

  function killAll(): void {
    for (const [worker, slot] of running) kill(slot, worker);
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

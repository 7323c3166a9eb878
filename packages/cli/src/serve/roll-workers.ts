/**
 * Replaces running workers one after the other, each by one that listens already.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Schedule } from '@sallyport/server';
import type { ReloadRefusal } from './reloads.ts';
import type { StartWorker, WorkerStop } from './worker-process.ts';
import { STOP_MS, type Worker, type WorkerSlot } from './worker-slot.ts';

/** Longer than a worker itself waits until it is ready: its own report says better what is missing. */
const TAKEOVER_MS = 45_000;
/** Other workers go on listening on the same port. */
const AT_ONCE: WorkerStop = { drainDelayMs: undefined };

/** The workers to replace, and what their supervisor does with one. */
export interface RollingWorkers {
  readonly slots: readonly WorkerSlot[];
  /** Starts the successor of a slot's worker. */
  begin(slot: WorkerSlot, startWorker: StartWorker): Worker;
  isRunning(worker: Worker): boolean;
  /** Starts a slot's worker again after it has ended, or ends them all. */
  restart(slot: WorkerSlot, ended: Worker): void;
  kill(slot: WorkerSlot, worker: Worker): void;
  /** Whether all workers are being stopped. */
  isStopping(): boolean;
  readonly schedule: Schedule;
}

/** How a roll went: why it stopped, if it did. Workers that were replaced until then stay. */
export type RollOutcome = Result<undefined, Exclude<ReloadRefusal, { kind: 'problems' }>>;

/**
 * Replaces the worker of each slot. Workers are to listen already.
 *
 * @param startWorker - Starts the new workers, and from now on those that replace one of them.
 * @param signal - Aborts when the roll is not wanted any more.
 */
export async function rollWorkers(
  workers: RollingWorkers,
  startWorker: StartWorker,
  signal: AbortSignal,
): Promise<RollOutcome> {
  const isSuperseded = (): boolean => signal.aborted || workers.isStopping();
  for (const slot of workers.slots) {
    if (isSuperseded()) return refuse({ kind: 'superseded' });
    const failure = await replace(workers, slot, startWorker, signal);
    if (isSuperseded()) return refuse({ kind: 'superseded' });
    if (failure !== undefined) return refuse({ kind: 'failed', sentence: failure });
  }
  return accept(undefined);
}

/** @returns Why the successor did not take over; `undefined` when it did, or is not wanted any more. */
async function replace(
  workers: RollingWorkers,
  slot: WorkerSlot,
  startWorker: StartWorker,
  signal: AbortSignal,
): Promise<string | undefined> {
  const next = workers.begin(slot, startWorker);
  let isGivenUp = false;
  const giveUp = (): void => {
    isGivenUp = true;
    next.process.stop(AT_ONCE);
  };
  signal.addEventListener('abort', giveUp);
  let isLate = false;
  const cancel = workers.schedule(TAKEOVER_MS, () => {
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
  // The successor listened and was asked to end in the same moment: its predecessor stays.
  if (isGivenUp) {
    await relieve(workers, slot, next);
    return undefined;
  }
  const before = slot.current;
  slot.cancelRestart?.();
  slot.startWorker = startWorker;
  slot.pause.started();
  slot.current = workers.isRunning(next) ? next : undefined;
  // The successor may have ended in the moment in which it listened.
  if (slot.current === undefined) workers.restart(slot, next);
  if (before !== undefined) await relieve(workers, slot, before);
  return undefined;
}

/** Asks a worker to finish, now that another one serves; resolves when it has ended. */
async function relieve(workers: RollingWorkers, slot: WorkerSlot, worker: Worker): Promise<void> {
  if (!workers.isStopping()) worker.process.stop(AT_ONCE);
  const cancel = workers.schedule(STOP_MS, () => workers.kill(slot, worker));
  await worker.ended.promise;
  cancel();
}

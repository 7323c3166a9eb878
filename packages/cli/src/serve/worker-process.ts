/**
 * Port: a worker process as the primary uses it, and the messages between the two.
 *
 * @module
 */

import type { ConfigProblem } from '@sallyport/config';

/** Why a worker does not listen, or did not stop as it should. Neither arm holds a secret. */
export type StartFailure =
  | { readonly kind: 'problems'; readonly problems: readonly ConfigProblem[] }
  | { readonly kind: 'failed'; readonly sentence: string };

/** What a worker says: that it listens, or what went wrong. */
export type WorkerReport = { readonly kind: 'listening' } | StartFailure;

/** How a process ended. */
export interface WorkerExit {
  /** The exit code, absent after a signal, or when there never was a process. */
  readonly code?: number;
  readonly signal?: string;
}

/** How a worker is to end. */
export interface WorkerStop {
  /**
   * Says at `/readyz` that it drains, and takes connections for so long after that; `undefined` while
   * others of this machine go on listening.
   */
  readonly drainDelayMs: number | undefined;
}

/** A worker's process. */
export interface WorkerProcess {
  /** Absent when it could not be started. */
  readonly pid: number | undefined;
  /** Asks it to finish what is under way and to end; does nothing when it is gone. Only the first call counts. */
  stop(stop: WorkerStop): void;
  /** Ends it without asking. */
  kill(): void;
}

/** What to start. */
export interface WorkerStart {
  /** From 1; a worker that replaces another has its number. */
  readonly number: number;
  /** Whether it replaces a worker that still serves: then it listens only once it is ready. */
  readonly isReplacement: boolean;
  readonly onReport: (report: WorkerReport) => void;
  /** Called once, after the last report, and not before {@link StartWorker} has returned. */
  readonly onEnd: (exit: WorkerExit) => void;
}

/** Starts a worker. Never throws: what could not be started has ended. */
export type StartWorker = (start: WorkerStart) => WorkerProcess;

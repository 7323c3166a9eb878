/**
 * A worker's end of the channel to its primary.
 *
 * @module
 */

import type { ConfigSources } from '@sallyport/config';
import type { MetricsSaid, MetricsWanted } from '../observe/cluster-metrics.ts';
import type { WorkerReport, WorkerStop } from './worker-process.ts';

/** Sources of a configuration without the environment, which every process has by itself. */
export type SourcesToSend = Pick<ConfigSources, 'file' | 'flags'>;

/** A port, never 0, or where a Unix socket is bound. */
export type WorkerPlace = { readonly port: number } | { readonly socketPath: string };

/** What a worker is to do. */
export interface Assignment {
  /** The worker's number, from 1. */
  readonly number: number;
  /** Where to listen: with every other worker. */
  readonly place: WorkerPlace;
  /** Whether it listens only once it is ready, because its predecessor serves until then. */
  readonly isReplacement: boolean;
  readonly sources: SourcesToSend;
}

/** Messages of the primary. */
export type ToWorker =
  | ({ readonly kind: 'assignment' } & Assignment)
  | ({ readonly kind: 'stop' } & WorkerStop)
  | MetricsWanted;

/**
 * Messages of a worker. It asks for its assignment, because node:cluster drops messages that come before there
 * is a listener, and loading the program takes time.
 */
export type FromWorker = { readonly kind: 'asking' } | WorkerReport | MetricsSaid;

/** A question or its answer that was lost would leave a process that does nothing. */
const ASK_EVERY_MS = 1_000;

/** The channel. */
export interface PrimaryChannel {
  readonly assignment: Promise<Assignment>;
  readonly stopRequested: Promise<WorkerStop>;
  /** Resolves when the primary has it, or is gone. */
  report(report: WorkerReport): Promise<void>;
}

/**
 * Opens the channel; it keeps the process from now on.
 *
 * Signals are left to the primary, although a terminal and systemd send them to every process: a worker
 * that took SIGTERM would be gone before the primary could distinguish an end from a failure.
 * When the primary is gone the channel is, and with it, by node:cluster, this process.
 */
export function openPrimaryChannel(): PrimaryChannel {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const)
    process.on(signal, () => {});
  process.channel?.ref();
  const assigned = Promise.withResolvers<Assignment>();
  const stopped = Promise.withResolvers<WorkerStop>();
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'stop') stopped.resolve(message);
    else if (message.kind === 'assignment') assigned.resolve(message);
  });
  const asking = setInterval(() => void say({ kind: 'asking' }), ASK_EVERY_MS);
  void assigned.promise.then(() => clearInterval(asking));
  void say({ kind: 'asking' });
  return {
    assignment: assigned.promise,
    stopRequested: stopped.promise,
    report: say,
  };
}

function say(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(message, () => resolve());
  });
}

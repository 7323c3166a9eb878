/**
 * Metrics over the channel of node:cluster, at both ends.
 *
 * The messages are only about metrics; other listeners on the channel ignore them.
 *
 * @module
 */

import cluster from 'node:cluster';
import type { Metric } from '@sallyport/server/observe';
import type { WorkersToAsk } from './metrics-of-workers.ts';

/** The primary asks. */
export interface MetricsWanted {
  readonly kind: 'metrics_wanted';
}

/** A worker answers, or says so unasked as it ends. */
export interface MetricsSaid {
  readonly kind: 'metrics';
  readonly metrics: readonly Metric[];
}

/** A worker's end. */
export interface MetricsToPrimary {
  /** Sends all metrics a last time; call it after the last count. Resolves when they are sent. */
  sayLast(): Promise<void>;
}

/** The workers of this process. */
export function listClusterWorkers(): WorkersToAsk {
  return {
    running: () =>
      Object.values(cluster.workers ?? {}).flatMap((worker) =>
        worker?.isConnected() === true ? [worker.id] : [],
      ),
    ask(id) {
      const wanted: MetricsWanted = { kind: 'metrics_wanted' };
      // A worker that has ended is handled by its exit event.
      cluster.workers?.[id]?.send(wanted, () => {});
    },
    onAnswer(listener) {
      cluster.on('message', ({ id }, message: unknown) => {
        if (isMetricsSaid(message)) listener(id, message.metrics);
      });
    },
    onEnd(listener) {
      cluster.on('fork', ({ id, process: child }) => {
        // After its exit and its last message.
        child.once('close', () => listener(id));
      });
    },
  };
}

/**
 * Answers the primary from now on.
 *
 * @param onFailure - Called with the reason if there is no answer; the primary continues without it.
 */
export function answerPrimary(
  read: () => Promise<readonly Metric[]>,
  onFailure: (cause: unknown) => void,
): MetricsToPrimary {
  process.on('message', (message: unknown) => {
    if (kindOf(message) === 'metrics_wanted') say().catch(onFailure);
  });
  return { sayLast: () => say().catch(onFailure) };

  async function say(): Promise<void> {
    const said: MetricsSaid = { kind: 'metrics', metrics: await read() };
    // If the primary has exited, drop the message.
    await new Promise<void>((resolve) => {
      if (process.send === undefined) resolve();
      else process.send(said, () => resolve());
    });
  }
}

function isMetricsSaid(message: unknown): message is MetricsSaid {
  return kindOf(message) === 'metrics';
}

function kindOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'kind' in message
    ? message.kind
    : undefined;
}

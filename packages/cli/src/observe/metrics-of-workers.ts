/**
 * Collects what the workers count, in the process that started them.
 *
 * A counter never goes backwards when a worker is replaced: what a worker said last is kept when it ends,
 * and one that does not answer in time counts with what it said before.
 *
 * @module
 */

import type { Schedule } from '@sallyport/server';
import { loadPrometheus, type Metric } from '@sallyport/server/observe';

/** Port: the workers, as far as their metrics are concerned. */
export interface WorkersToAsk {
  /** Ids of those that run; an id is never given again. */
  running(): readonly number[];
  /** Asks one; the answer comes to `onAnswer`, or never. */
  ask(id: number): void;
  /** Also called for the last metrics that a worker sends as it ends. */
  onAnswer(listener: (id: number, metrics: readonly Metric[]) => void): void;
  /** Called after the last answer of a worker that has ended. */
  onEnd(listener: (id: number) => void): void;
}

/** What was collected. */
export interface CollectedMetrics {
  /** One entry for each process, and one for those that have ended. */
  readonly processes: readonly (readonly Metric[])[];
  readonly running: number;
  readonly answering: number;
}

/** An answer takes milliseconds; a scrape may take 10 s by default. */
const ANSWER_MS = 2_000;

/**
 * Creates the collector.
 *
 * @param schedule - Bounds the wait for an answer.
 *
 * @returns A function that asks every worker; not to be called again before it resolves.
 */
export function createWorkersCollector(
  workers: WorkersToAsk,
  schedule: Schedule,
): () => Promise<CollectedMetrics> {
  const lastById = new Map<number, readonly Metric[]>();
  const ended: (readonly Metric[])[] = [];
  let open = new Set<number>();
  let settled: (() => void) | undefined;

  workers.onAnswer((id, metrics) => {
    lastById.set(id, metrics);
    noteSettled(id);
  });
  workers.onEnd((id) => {
    const last = lastById.get(id);
    lastById.delete(id);
    if (last !== undefined) ended.push(countersOf(last));
    noteSettled(id);
  });

  return async function collect() {
    const asked = workers.running();
    const { promise, resolve } = Promise.withResolvers<void>();
    open = new Set(asked);
    settled = resolve;
    const cancel = schedule(ANSWER_MS, resolve);
    for (const id of asked) workers.ask(id);
    if (open.size === 0) resolve();
    await promise;
    cancel();
    const silent = open;
    open = new Set();
    // Read in the same turn as `foldEnded` reads its part: a worker that ends meanwhile is in exactly one of both.
    const live = [...lastById].map(([id, metrics]) =>
      silent.has(id) ? countersOf(metrics) : metrics,
    );
    const kept = await foldEnded();
    const running = workers.running();
    return {
      processes: [kept, ...live],
      running: running.length,
      answering: running.filter((id) => lastById.has(id) && !silent.has(id)).length,
    };
  };

  function noteSettled(id: number): void {
    open.delete(id);
    if (open.size === 0) settled?.();
  }

  /** Merges the metrics of all ended workers into one entry. */
  async function foldEnded(): Promise<readonly Metric[]> {
    const parts = ended.splice(0);
    const [first = []] = parts;
    const folded =
      parts.length < 2
        ? first
        : await loadPrometheus().then(({ mergeMetrics }) => mergeMetrics(parts));
    if (parts.length > 0) ended.unshift(folded);
    return folded;
  }
}

/** Counters alone: the last gauges of a process mean nothing once it no longer answers. */
function countersOf(metrics: readonly Metric[]): readonly Metric[] {
  return metrics.filter(({ type }) => type !== 'gauge');
}

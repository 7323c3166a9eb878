/**
 * Metrics of the command, where the configuration names a port for them.
 *
 * @module
 */

import type { MetricsConfig } from '@sallyport/config';
import type { Schedule } from '@sallyport/server';
import {
  CounterFamily,
  createConfigurationCounts,
  createMetrics,
  describeFailure,
  type Log,
  loadPrometheus,
  type Metric,
  type Metrics,
  readAuditLinesWaiting,
  readGauge,
} from '@sallyport/server/observe';
import { readVersion } from '../process/version.ts';
import { answerPrimary, listClusterWorkers, type MetricsToPrimary } from './cluster-metrics.ts';
import { listenForScrapes, type MetricsListener } from './metrics-listener.ts';
import { createWorkersCollector } from './metrics-of-workers.ts';
import type { ProcessLog } from './process-log.ts';

/** What the only process of a server is called, and the first of several. */
const ONLY_WORKER = '1';
const PRIMARY = 'primary';

/**
 * Begins to count, in the process that serves. Loads nothing yet.
 *
 * @param worker - Its number, where there are several.
 *
 * @returns `undefined` where no port is configured: then nothing is counted.
 */
export function openMetrics({ port }: MetricsConfig, worker?: number): Metrics | undefined {
  if (port === 0) return undefined;
  return createMetrics({
    version: readVersion(),
    nodeVersion: process.versions.node,
    now: Date.now,
    monotonicMs: () => performance.now(),
    isWorker: worker !== undefined,
  });
}

/**
 * Serves the metrics of the only process.
 *
 * @param metrics - `undefined` serves none.
 *
 * @throws {SallyportError} `SP_PORT_IN_USE` when the port is taken, `SP_LISTEN_FAILED` when it cannot be had.
 */
export async function exposeMetrics(
  config: MetricsConfig,
  metrics: Metrics | undefined,
  log: Log,
): Promise<MetricsListener | undefined> {
  if (metrics === undefined) return undefined;
  const readRuntime = createRuntimeReader(ONLY_WORKER);
  const ends = createWorkerEnds();
  return listenForScrapes(
    config,
    async () => {
      const workers = readWorkers({ configured: 1, running: 1, answering: 1 });
      return expose([[...metrics.read(), ...(await readRuntime()), workers, ends.read()]]);
    },
    log,
  );
}

/** Metrics in the process that starts workers. */
export interface WorkersMetrics {
  /** The same log; ends of workers and reloads are counted. */
  readonly log: Log;
  close(): Promise<void>;
}

/**
 * Serves the metrics of all workers. To be called before the first of them is started.
 *
 * @param count - How many there should be.
 *
 * @throws {SallyportError} `SP_PORT_IN_USE` when the port is taken, `SP_LISTEN_FAILED` when it cannot be had.
 */
export async function exposeWorkersMetrics(
  config: MetricsConfig,
  count: number,
  schedule: Schedule,
  { log, auditFile }: Pick<ProcessLog, 'log' | 'auditFile'>,
): Promise<WorkersMetrics> {
  if (config.port === 0) return { log, close: async () => {} };
  const readRuntime = createRuntimeReader(PRIMARY);
  const collect = createWorkersCollector(listClusterWorkers(), schedule);
  const ends = createWorkerEnds();
  const configuration = createConfigurationCounts(Date.now);
  const listener = await listenForScrapes(
    config,
    async () => {
      const { processes, running, answering } = await collect();
      const workers = readWorkers({ configured: count, running, answering });
      const own = [
        workers,
        ends.read(),
        ...configuration.read(),
        readAuditLinesWaiting(auditFile),
        ...(await readRuntime()),
      ];
      return expose([own, ...processes]);
    },
    log,
  );
  return {
    log(level, event, fields) {
      ends.note(event);
      configuration.note(event, fields);
      log(level, event, fields);
    },
    close: () => listener.close(),
  };
}

/**
 * Answers the primary's questions, in a worker.
 *
 * @param number - The worker's.
 * @param metrics - `undefined` answers nothing.
 */
export function answerForWorker(
  number: number,
  metrics: Metrics | undefined,
  log: Log,
): MetricsToPrimary {
  if (metrics === undefined) return { sayLast: async () => {} };
  const readRuntime = createRuntimeReader(String(number));
  return answerPrimary(
    async () => [...metrics.read(), ...(await readRuntime())],
    (cause) => log('error', 'scrape_failed', { failure: describeFailure(cause) }),
  );
}

async function expose(processes: readonly (readonly Metric[])[]): Promise<{
  readonly contentType: string;
  readonly text: string;
}> {
  const { formatMetrics, PROMETHEUS_CONTENT_TYPE } = await loadPrometheus();
  return { contentType: PROMETHEUS_CONTENT_TYPE, text: await formatMetrics(processes) };
}

/** Measures the runtime from the first scrape on, so that it does not slow down the start. */
function createRuntimeReader(name: string): () => Promise<readonly Metric[]> {
  let watched: Promise<{ read(): Promise<readonly Metric[]> }> | undefined;
  return async () => {
    watched ??= loadPrometheus().then(({ watchRuntime }) => watchRuntime(name));
    return (await watched).read();
  };
}

function readWorkers(
  byState: Readonly<Record<'configured' | 'running' | 'answering', number>>,
): Metric {
  return readGauge(
    {
      name: 'sallyport_workers',
      help: 'Processes that answer requests: how many are wanted, run, and reported their metrics in time.',
      aggregator: 'sum',
    },
    Object.entries(byState).map(([state, value]) => ({ labels: { state }, value })),
  );
}

/** Counts workers that ended without being asked to, by what the log says of them. */
function createWorkerEnds(): {
  note(event: string): void;
  read(): Metric;
} {
  const family = new CounterFamily({
    name: 'sallyport_worker_ends_total',
    help: 'Workers that ended without a request to stop.',
    labels: [],
    series: [[]],
  });
  const slot = family.slot();
  return {
    note(event) {
      if (event === 'worker_ended') family.add(slot);
    },
    read: () => family.read(),
  };
}

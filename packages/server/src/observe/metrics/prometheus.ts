/**
 * The exposition on `prom-client`: metrics of the runtime, several processes put together, and the
 * text of a scrape.
 *
 * Loads the library; loaded itself only where there are metrics.
 *
 * @module
 */

import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';
import type { Metric, Sample } from './metrics-family.ts';

/** Content type of {@link formatMetrics}. */
export const PROMETHEUS_CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

/** Series by kind of handle or heap space: their number would follow the requests, or says nothing here. */
const LEFT_OUT = [
  'nodejs_active_resources',
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_heap_space_size_available_bytes',
];
/** The delay of the event loop is sampled every so many milliseconds. */
const LAG_PRECISION_MS = 20;
/** A lag beyond it is what the runtime says without a sample. */
const LAG_MAX_SECONDS = 1e9;

/** The runtime of this process. */
export interface RuntimeMetrics {
  read(): Promise<readonly Metric[]>;
}

/**
 * Begins to watch memory, processor, garbage collection and event loop of this process.
 *
 * @param process - Label `worker`: these are facts of one process, which no sum or mean of several replaces.
 */
export function watchRuntime(process: string): RuntimeMetrics {
  const register = new Registry();
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: LAG_PRECISION_MS });
  for (const name of LEFT_OUT) register.removeSingleMetric(name);
  return {
    async read() {
      const metrics = await register.getMetricsAsJSON();
      return metrics.map(({ name, help, type, values }) => ({
        name,
        help,
        type: type as unknown as Metric['type'],
        aggregator: 'sum',
        values: (values as readonly Sample[]).map((sample) => ({
          ...sample,
          value: isSample(name, sample.value) ? sample.value : 0,
          labels: labelsOf(sample, process),
        })),
      }));
    },
  };
}

/**
 * Puts the metrics of several processes together: each family as its `aggregator` says.
 *
 * @param processes - In any order; none of them is changed.
 */
export async function mergeMetrics(
  processes: readonly (readonly Metric[])[],
): Promise<readonly Metric[]> {
  const merged = await aggregate(processes).getMetricsAsJSON();
  return merged as unknown as readonly Metric[];
}

/** Writes one or several processes' metrics in the text format 0.0.4. */
export function formatMetrics(processes: readonly (readonly Metric[])[]): Promise<string> {
  return aggregate(processes).metrics();
}

function aggregate(processes: readonly (readonly Metric[])[]): Registry {
  return AggregatorRegistry.aggregate([...processes]);
}

/** The library has numbers among its labels. */
function labelsOf(
  { labels }: { readonly labels: Readonly<Record<string, string | number>> },
  process: string,
): Readonly<Record<string, string>> {
  const texts = Object.entries(labels).map(([name, value]) => [name, String(value)] as const);
  return { ...Object.fromEntries(texts), worker: process };
}

function isSample(name: string, value: number): boolean {
  return (
    Number.isFinite(value) && !(name.startsWith('nodejs_eventloop_lag') && value > LAG_MAX_SECONDS)
  );
}

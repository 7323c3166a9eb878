/**
 * Metrics of the webhook, on a port of their own.
 *
 * @module
 */

import type { MetricsConfig } from '@sallyport/config';
import type { ClosedConnection } from '@sallyport/server/listener';
import {
  CounterFamily,
  type Log,
  loadPrometheus,
  type Metric,
  readGauge,
} from '@sallyport/server/observe';
import { listenForScrapes, type MetricsListener } from '../observe/metrics-listener.ts';
import type { ReviewOutcome } from './answer-webhook.ts';

/** Counts, and what the counts are of. */
export interface InjectMetrics {
  count(this: void, outcome: ReviewOutcome): void;
  countCertificate(this: void, result: 'loaded' | 'kept'): void;
  countClosed(this: void, state: ClosedConnection): void;
  /**
   * Serves them.
   *
   * @param expiresAt - When the present certificate ends, in epoch milliseconds.
   * @throws {SallyportError} `SP_PORT_IN_USE`, `SP_LISTEN_FAILED`.
   */
  listen(place: MetricsConfig, expiresAt: () => number): Promise<MetricsListener>;
}

const MS = 1_000;
const OUTCOMES: readonly ReviewOutcome[] = [
  'injected',
  'unchanged',
  'not_selected',
  'refused',
  'malformed',
];

/** Begins to count. */
export function createInjectMetrics(log: Log): InjectMetrics {
  const reviews = new CounterFamily({
    name: 'sallyport_inject_reviews_total',
    help: 'Reviews of pods, by what became of them.',
    labels: ['outcome'],
    series: OUTCOMES.map((outcome) => [outcome] as const),
  });
  const certificates = new CounterFamily({
    name: 'sallyport_inject_certificate_changes_total',
    help: 'Changes of the certificate files: loaded, or the certificate before kept because they were unusable.',
    labels: ['result'],
    series: [['loaded'], ['kept']],
  });
  const connections = new CounterFamily({
    name: 'sallyport_inject_connections_closed_total',
    help: 'Connections closed because there were more than are kept: silent, idle, or the newest where all were used.',
    labels: ['state'],
    series: [['silent'], ['idle'], ['newest']],
  });
  return {
    count: (outcome) => reviews.add(reviews.slot(outcome)),
    countCertificate: (result) => certificates.add(certificates.slot(result)),
    countClosed: (state) => connections.add(connections.slot(state)),
    listen: (place, expiresAt) =>
      listenForScrapes(place, () => expose(read(expiresAt())), log, {
        host: '--metrics',
        port: '--metrics',
      }),
  };

  function read(expiresAt: number): readonly Metric[] {
    return [
      reviews.read(),
      certificates.read(),
      connections.read(),
      readGauge(
        {
          name: 'sallyport_inject_certificate_expiry_timestamp_seconds',
          help: 'When the certificate ends, as Unix time.',
          aggregator: 'min',
        },
        [{ value: expiresAt / MS }],
      ),
    ];
  }
}

async function expose(metrics: readonly Metric[]) {
  const { formatMetrics, PROMETHEUS_CONTENT_TYPE } = await loadPrometheus();
  return { contentType: PROMETHEUS_CONTENT_TYPE, text: await formatMetrics([metrics]) };
}

/**
 * Metrics of the agent, on a port of their own.
 *
 * @module
 */

import type { MetricsConfig } from '@sallyport/config';
import {
  CounterFamily,
  type Log,
  loadPrometheus,
  type Metric,
  readGauge,
} from '@sallyport/server/observe';
import { listenForScrapes, type MetricsListener } from '../observe/metrics-listener.ts';
import type { TokenKeeper } from './token-keeper.ts';

/** Counts, and what the counts are of. */
export interface AgentMetrics {
  /** The same log; tokens and failed attempts are counted. */
  readonly log: Log;
  /**
   * Serves them.
   *
   * @throws {SallyportError} `SP_PORT_IN_USE`, `SP_LISTEN_FAILED`.
   */
  listen(place: MetricsConfig, keeper: () => TokenKeeper): Promise<MetricsListener>;
}

const MS = 1_000;

/** Begins to count. */
export function createAgentMetrics(log: Log, now: () => number): AgentMetrics {
  const tokens = createCounter('sallyport_agent_tokens_total', 'Tokens that were obtained.');
  const failures = createCounter(
    'sallyport_agent_failures_total',
    'Attempts to obtain a token that failed.',
  );
  const refused = createCounter(
    'sallyport_agent_refused_requests_total',
    'Requests that a door refused before it looked at what they ask.',
  );
  const byEvent: ReadonlyMap<string, CounterFamily> = new Map([
    ['token_obtained', tokens],
    ['token_unavailable', failures],
    ['agent_request_refused', refused],
  ]);
  let obtainedAt: number | undefined;
  return {
    log(level, event, fields) {
      byEvent.get(event)?.add(0);
      if (event === 'token_obtained') obtainedAt = now();
      log(level, event, fields);
    },
    listen: (place, keeper) =>
      listenForScrapes(place, async () => expose(read(keeper())), log, {
        host: '--metrics',
        port: '--metrics',
      }),
  };

  function read(keeper: TokenKeeper): readonly Metric[] {
    const { isUsable, expiresAt } = keeper.status();
    return [
      tokens.read(),
      failures.read(),
      refused.read(),
      gauge('sallyport_agent_ready', 'Whether a call would get a token: 1 or 0.', isUsable ? 1 : 0),
      // A series that is not there says that there is no token.
      gauge(
        'sallyport_agent_token_age_seconds',
        'Time since the token was obtained.',
        obtainedAt === undefined ? undefined : (now() - obtainedAt) / MS,
      ),
      gauge(
        'sallyport_agent_token_expiry_timestamp_seconds',
        'When the token ends, as Unix time.',
        expiresAt === undefined ? undefined : expiresAt / MS,
      ),
    ];
  }
}

function createCounter(name: string, help: string): CounterFamily {
  return new CounterFamily({ name, help, labels: [], series: [[]] });
}

function gauge(name: string, help: string, value: number | undefined): Metric {
  const values = value === undefined ? [] : [{ labels: {}, value }];
  return readGauge({ name, help, aggregator: 'max' }, values);
}

async function expose(metrics: readonly Metric[]) {
  const { formatMetrics, PROMETHEUS_CONTENT_TYPE } = await loadPrometheus();
  return { contentType: PROMETHEUS_CONTENT_TYPE, text: await formatMetrics([metrics]) };
}

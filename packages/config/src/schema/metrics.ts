/**
 * Schema of `observe.metrics`.
 *
 * @module
 */

import { integerKind } from '../kinds/kind.ts';
import { listenHostKind } from '../kinds/name.ts';
import type { MetricsConfig } from '../metrics-config.ts';
import type { SchemaOf } from './setting.ts';

/** Schema of `observe.metrics`. */
export const METRICS_SCHEMA: SchemaOf<MetricsConfig> = {
  host: {
    kind: listenHostKind,
    fallback: '127.0.0.1',
    variable: 'SALLYPORT_METRICS_HOST',
    meaning:
      'Address the metrics are served on. The default is reachable from the same machine or pod only; a Prometheus that scrapes pods in Kubernetes needs `0.0.0.0` or `::`.',
  },
  port: {
    kind: integerKind(0, 65_535),
    fallback: 0,
    variable: 'SALLYPORT_METRICS_PORT',
    meaning:
      'Port that serves [metrics](monitoring.md) for Prometheus, under `/metrics` and nothing else; it is not the port of `listen`. 0, the default, serves none.',
  },
};

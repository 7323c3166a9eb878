/**
 * Loads the library of the metrics where there are metrics: it costs memory that others should not pay.
 *
 * @module
 */

/** What `prometheus.ts` exports. */
export type Prometheus = typeof import('./prometheus.ts');

/** Loads it; at once when it is loaded already. */
export function loadPrometheus(): Promise<Prometheus> {
  return import('./prometheus.ts');
}

/**
 * Times the operations of a session store.
 *
 * @module
 */

import type { SessionStore } from '../../session/session-store.ts';
import { observeStore, STORE_OPERATION_NAMES, type StoreCall } from '../observe-store.ts';
import { CounterFamily, HistogramFamily, type Metric } from './metrics-family.ts';

/** From a local file in memory to a server in trouble. */
const UPPER_BOUNDS_SECONDS = [
  0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5,
];

/** The measured times, and the wrapper that measures. */
export interface StoreTimes {
  /** The same store, timed. What is synchronous is passed on as it is. */
  measure(store: SessionStore): SessionStore;
  read(): readonly Metric[];
}

/**
 * Creates the times, none so far.
 *
 * @param monotonicMs - Milliseconds from any start, never set back.
 */
export function createStoreTimes(monotonicMs: () => number): StoreTimes {
  const series = Object.values(STORE_OPERATION_NAMES).map((label) => [label] as const);
  const durations = new HistogramFamily({
    name: 'sallyport_store_operation_duration_seconds',
    help: 'Time of operations of the session store, also of those that failed.',
    labels: ['operation'],
    series,
    upperBounds: UPPER_BOUNDS_SECONDS,
  });
  const failures = new CounterFamily({
    name: 'sallyport_store_failures_total',
    help: 'Operations of the session store that failed.',
    labels: ['operation'],
    series,
  });

  return {
    measure: (store) => observeStore(store, time),
    read: () => [durations.read(), failures.read()],
  };

  /** The caller gets the store's own promise, and waits for nothing of the measurement. */
  function time(operation: string): StoreCall {
    const [duration, failure] = [durations.slot(operation), failures.slot(operation)];
    return (run) => {
      const startedAt = monotonicMs();
      const result = run();
      const note = () => durations.observe(duration, (monotonicMs() - startedAt) / 1_000);
      result.then(note, () => {
        note();
        failures.add(failure);
      });
      return result;
    };
  }
}

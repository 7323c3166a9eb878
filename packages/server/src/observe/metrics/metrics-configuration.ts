/**
 * Counts reloads of the configuration, by their events.
 *
 * @module
 */

import type { LogFields } from '../../log/log.ts';
import type { LogEvent } from '../../log/log-events.ts';
import { CounterFamily, type Metric, readGauge } from './metrics-family.ts';

/** What the event has as its reason when a process starts: that is no reload. */
const STARTED = 'started';

/** The counts. */
export interface ConfigurationCounts {
  /** To be called for every event of the log. */
  note(event: LogEvent, fields: LogFields | undefined): void;
  read(): readonly Metric[];
}

/**
 * Creates the counts. The process runs, so a configuration is in effect.
 *
 * @param now - Epoch milliseconds.
 */
export function createConfigurationCounts(now: () => number): ConfigurationCounts {
  const reloads = new CounterFamily({
    name: 'sallyport_configuration_reloads_total',
    help: 'Times a changed configuration was read, by whether it took effect.',
    labels: ['result'],
    series: [['applied'], ['refused']],
  });
  const applied = reloads.slot('applied');
  const refused = reloads.slot('refused');
  let appliedAt = now();
  let isLastGood = true;

  return {
    note(event, fields) {
      if (event === 'configuration_loaded') {
        if (fields?.['reason'] !== STARTED) reloads.add(applied);
        appliedAt = now();
        isLastGood = true;
      }
      if (event === 'configuration_refused') {
        reloads.add(refused);
        isLastGood = false;
      }
      if (event === 'configuration_good_again') isLastGood = true;
    },
    read: () => [
      reloads.read(),
      readGauge(
        {
          name: 'sallyport_configuration_reload_successful',
          help: 'Whether the configuration that was read last could be used: 1 or 0.',
          aggregator: 'min',
        },
        [{ value: Number(isLastGood) }],
      ),
      readGauge(
        {
          name: 'sallyport_configuration_applied_timestamp_seconds',
          help: 'When a configuration took effect last, in seconds since 1970.',
          aggregator: 'max',
        },
        [{ value: appliedAt / 1_000 }],
      ),
    ],
  };
}

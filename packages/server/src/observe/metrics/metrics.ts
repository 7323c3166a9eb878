/**
 * What one process counts and times: everything that is scraped, except the metrics of the runtime.
 *
 * It outlives a reload: whatever is put in the place of something else goes on counting here.
 *
 * @module
 */

import type { Log } from '../../log/log.ts';
import type { SessionStore } from '../../session/session-store.ts';
import type { Occupancy } from '../../verdict/bounded-cache.ts';
import type { DoorName, VerdictObserver } from '../verdict-observer.ts';
import { createConfigurationCounts } from './metrics-configuration.ts';
import { createEventCounts } from './metrics-events.ts';
import { CounterFamily, type Metric, readGauge } from './metrics-family.ts';
import { createIdpCallCounts } from './metrics-idp-calls.ts';
import { createStoreTimes } from './metrics-store.ts';
import { createVerdictCounts } from './metrics-verdicts.ts';

/** Current readings of a running server, read at each scrape. */
export interface ServerReadings {
  /** Whether `/readyz` says so, by what is known. */
  readonly isReady: boolean;
  /** Epoch milliseconds from which the key in use seals; `undefined` while no ring was read. */
  readonly sealsSince: number | undefined;
  /** Key sets that bearers are verified with; the time of the last good fetch in epoch milliseconds. */
  readonly issuerKeys: readonly {
    readonly issuer: string;
    readonly fetchedAt: number | undefined;
  }[];
  /** Verdicts in memory. */
  readonly remembered: {
    readonly sessions: Occupancy;
    readonly tokens: Occupancy;
  };
}

/** Settings and ports of {@link createMetrics}. */
export interface MetricsOptions {
  /** Version of the command. */
  readonly version: string;
  readonly nodeVersion: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds from any start, never set back. */
  readonly monotonicMs: () => number;
  /**
   * Of several workers: the process that starts them reads the configuration and reports on it, and the start
   * of a worker is no change. `false` by default.
   */
  readonly isWorker?: boolean;
}

/** The counts and times of a process. */
export interface Metrics {
  /** Counts every verdict that it gets. */
  readonly onVerdict: VerdictObserver;
  /** Shows the verdicts of these doors from now on, with 0. */
  addDoors(names: Iterable<DoorName>): void;
  /** The same log, its events counted, whether or not the log writes a line of them. */
  countEvents(log: Log): Log;
  /** The same log, its audit lines counted: what of the events comes to be written. */
  countAuditLines(log: Log): Log;
  /** From now on this audit stream is asked how many lines wait to be written to its file. */
  followAuditFile(stream: { readonly waiting: number }): void;
  /** The same log, which takes what the audit stream's own file does not, its audit lines counted. */
  countDivertedAuditLines(log: Log): Log;
  /**
   * The same fetch towards identity providers, counted and timed.
   *
   * @param metadataUrls - Configured places of metadata documents.
   */
  countIdpCalls(fetch: typeof globalThis.fetch, metadataUrls: readonly string[]): typeof fetch;
  /** The same store, timed. */
  timeStore(store: SessionStore): SessionStore;
  /** From now on this server is the one that is read; `undefined` where nothing is authenticated. */
  follow(readings: (() => ServerReadings) | undefined): void;
  /** All current values. */
  read(): readonly Metric[];
}

/** Creates them, all 0. */
export function createMetrics({
  version,
  nodeVersion,
  now,
  monotonicMs,
  isWorker = false,
}: MetricsOptions): Metrics {
  const verdicts = createVerdictCounts();
  const events = createEventCounts();
  const idpCalls = createIdpCallCounts(monotonicMs);
  const storeTimes = createStoreTimes(monotonicMs);
  const configuration = createConfigurationCounts(now);
  const auditLines = plainCounter(
    'sallyport_audit_lines_total',
    'Lines of the audit stream, those that went to the log instead of its file included.',
  );
  const divertedAuditLines = plainCounter(
    'sallyport_audit_lines_diverted_total',
    "Lines that could not be written to the audit stream's file and went to the log.",
  );
  let auditFile: { readonly waiting: number } | undefined;
  let readings: (() => ServerReadings) | undefined;

  return {
    onVerdict: verdicts.observe,
    addDoors: (names) => verdicts.addDoors(names),
    countEvents: (log) =>
      function counted(level, event, fields) {
        configuration.note(event, fields);
        events.note(event, fields);
        log(level, event, fields);
      },
    countAuditLines: (log) => countAuditLevel(log, auditLines),
    followAuditFile(stream) {
      auditFile = stream;
    },
    countDivertedAuditLines: (log) => countAuditLevel(log, divertedAuditLines),
    countIdpCalls: (fetch, metadataUrls) => idpCalls.count(fetch, metadataUrls),
    timeStore: (store) => storeTimes.measure(store),
    follow(current) {
      readings = current;
    },
    read: () => [
      readGauge(
        {
          name: 'sallyport_build_info',
          help: 'Always 1; the labels say what runs.',
          aggregator: 'first',
        },
        [{ labels: { version, node: nodeVersion }, value: 1 }],
      ),
      ...verdicts.read(),
      ...events.read(),
      ...idpCalls.read(),
      ...storeTimes.read(),
      ...(isWorker ? [] : configuration.read()),
      auditLines.read(),
      divertedAuditLines.read(),
      readAuditLinesWaiting(auditFile),
      ...readGauges(readings?.(), now()),
    ],
  };
}

/** Lines that wait in one process; none where the audit stream has no file. */
export function readAuditLinesWaiting(stream: { readonly waiting: number } | undefined): Metric {
  return readGauge(
    {
      name: 'sallyport_audit_lines_waiting',
      help: 'Lines of the audit stream that were taken and are not in its file yet.',
      aggregator: 'sum',
    },
    [{ value: stream?.waiting ?? 0 }],
  );
}

function plainCounter(name: string, help: string): CounterFamily {
  return new CounterFamily({ name, help, labels: [], series: [[]] });
}

function countAuditLevel(log: Log, family: CounterFamily): Log {
  const slot = family.slot();
  return (level, event, fields) => {
    if (level === 'audit') family.add(slot);
    log(level, event, fields);
  };
}

function readGauges(readings: ServerReadings | undefined, now: number): readonly Metric[] {
  const age = (since: number | undefined) =>
    since === undefined ? undefined : Math.max(0, now - since) / 1_000;
  const { sessions, tokens } = readings?.remembered ?? {};
  return [
    readGauge(
      {
        name: 'sallyport_ready',
        help: 'Whether /readyz says ready: 1 or 0; of several processes the worst.',
        aggregator: 'min',
      },
      [{ value: readings === undefined ? undefined : Number(readings.isReady) }],
    ),
    readGauge(
      {
        name: 'sallyport_sealing_key_age_seconds',
        help: 'Age of the key that seals sessions, since it began to.',
        aggregator: 'max',
      },
      [{ value: age(readings?.sealsSince) }],
    ),
    readGauge(
      {
        name: 'sallyport_issuer_keys_age_seconds',
        help: "Age of an issuer's key set, since it was last fetched.",
        aggregator: 'max',
      },
      (readings?.issuerKeys ?? []).map(({ issuer, fetchedAt }) => ({
        labels: { issuer },
        value: age(fetchedAt),
      })),
    ),
    ...readRemembered('sessions', 'sessions', sessions),
    ...readRemembered('tokens', 'bearer tokens', tokens),
  ];
}

/** The gauges of one memory of verdicts: how many it holds, and at most. */
function readRemembered(
  kind: 'sessions' | 'tokens',
  subject: string,
  occupancy: Occupancy | undefined,
): readonly Metric[] {
  const name = `sallyport_remembered_${kind}`;
  const all = `${subject[0]?.toUpperCase()}${subject.slice(1)} whose verdict is kept in memory.`;
  const most = `Most ${subject} whose verdict is kept in memory.`;
  return [
    readGauge({ name, help: all, aggregator: 'sum' }, [{ value: occupancy?.size }]),
    readGauge({ name: `${name}_limit`, help: most, aggregator: 'sum' }, [
      { value: occupancy?.limit },
    ]),
  ];
}

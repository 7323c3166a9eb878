/**
 * Log, audit stream, metrics and traces. Loads no other part of the server, so it costs little in a process that only supervises
 * workers.
 *
 * @module
 */

export {
  type Audit,
  type AuditEvent,
  type AuditOrigin,
  type AuditPrincipal,
  createAudit,
  NO_PRINCIPAL,
  NO_REQUEST,
} from '../audit/audit.ts';
export { type AuditLog, type AuditLogOptions, openAuditLog } from '../audit/audit-log.ts';
export type { Log, LogFields, LogValue } from '../log/log.ts';
export { describeFailure } from '../log/log.ts';
export type { LogEvent, LogLevel } from '../log/log-events.ts';
export type { Schedule } from '../time/schedule.ts';
export {
  errorType,
  type RequestSpan,
  type SpanAttributes,
  type SpanDescription,
  type Tracer,
  type TraceSpan,
} from '../trace/tracer.ts';
export { type BoundedLog, boundLog } from './log/log-bounds.ts';
export {
  createVerdictLog,
  type VerdictLog,
  type VerdictLogOptions,
} from './log/sampled-verdicts.ts';
export {
  createMetrics,
  type Metrics,
  type MetricsOptions,
  readAuditLinesWaiting,
  type ServerReadings,
} from './metrics/metrics.ts';
export {
  type ConfigurationCounts,
  createConfigurationCounts,
} from './metrics/metrics-configuration.ts';
export {
  CounterFamily,
  type Metric,
  readGauge,
  type Sample,
} from './metrics/metrics-family.ts';
export { loadPrometheus, type Prometheus } from './metrics/prometheus-loading.ts';
export { traceFetch } from './traces/trace-fetch.ts';
export { traceStore } from './traces/trace-store.ts';
export {
  combineObservers,
  type DoorName,
  type VerdictObserver,
} from './verdict-observer.ts';

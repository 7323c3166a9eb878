/**
 * Every event that a process can log, in one table: its level, its bound, and the metrics it counts for.
 *
 * The type {@link LogEvent} is the names of this table, so an event that is misspelt, or has a level that is not its own, does not
 * compile. docs/logs.md lists the same events; a test compares both.
 *
 * @module
 */

/** Severity of a line. `audit` marks a line of the audit stream, which is written at every level but `silent`. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'audit';

/** Lines of one kind of event that are written: `burst` at once after a quiet time, then `perSecond`. */
export interface EventRate {
  readonly burst: number;
  readonly perSecond: number;
}

/** Bounds for events that requests can cause. */
export const EVENT_RATES: Readonly<Record<'unauthenticated' | 'sign_ins', EventRate>> = {
  /** Events that a client without any session can cause. */
  unauthenticated: { burst: 50, perSecond: 10 },
  /** Events at the beginning of a session; many people may sign in at once. */
  sign_ins: { burst: 1_000, perSecond: 100 },
};

/**
 * Bound of an event in each process. `every`: no line is left out. `by_writer`: the module that writes the event bounds it,
 * because the bound depends on more than the event.
 */
export type EventBound = keyof typeof EVENT_RATES | 'every' | 'by_writer';

/** Metrics that events count for. */
export type EventMetric =
  | 'sallyport_backchannel_logouts_total'
  | 'sallyport_configuration_reloads_total'
  | 'sallyport_failures_total'
  | 'sallyport_rate_limited_requests_total'
  | 'sallyport_renewals_sent_total'
  | 'sallyport_renewals_total'
  | 'sallyport_sessions_begun_total'
  | 'sallyport_sessions_ended_total'
  | 'sallyport_sign_ins_started_total'
  | 'sallyport_sign_ins_total';

/** A row of the table. */
export interface LogEventRow {
  /** Levels of its lines, the usual one first. */
  readonly levels: readonly [LogLevel, ...LogLevel[]];
  readonly bound: EventBound;
  readonly metrics: readonly EventMetric[];
}

/** The table. An event with the bound `every` is caused by a timer or an operator, or is a transition that must be on record. */
// biome-ignore format: one event a line
const TABLE = {
  // Events of the service.
  addresses_to_register: { levels: ['info'], bound: 'every', metrics: [] },
  agent_listening: { levels: ['info'], bound: 'every', metrics: [] },
  agent_request_refused: { levels: ['warn'], bound: 'unauthenticated', metrics: [] },
  audit_not_written: { levels: ['error'], bound: 'every', metrics: [] },
  audit_written_again: { levels: ['info'], bound: 'every', metrics: [] },
  authentication_disabled: { levels: ['warn'], bound: 'every', metrics: [] },
  authorization_server_metadata_failed: { levels: ['warn'], bound: 'every', metrics: ['sallyport_failures_total'] },
  backchannel_logout_failed: { levels: ['error'], bound: 'unauthenticated', metrics: ['sallyport_backchannel_logouts_total'] },
  backchannel_logouts_lost: { levels: ['error'], bound: 'every', metrics: [] },
  certificate_kept: { levels: ['error'], bound: 'every', metrics: [] },
  certificate_loaded: { levels: ['info'], bound: 'every', metrics: [] },
  configuration: { levels: ['warn'], bound: 'every', metrics: [] },
  configuration_good_again: { levels: ['info'], bound: 'every', metrics: [] },
  configuration_kept: { levels: ['error'], bound: 'every', metrics: [] },
  configuration_mixed: { levels: ['error'], bound: 'every', metrics: [] },
  configuration_restored: { levels: ['info'], bound: 'every', metrics: [] },
  configuration_superseded: { levels: ['info'], bound: 'every', metrics: [] },
  configuration_waits: { levels: ['warn'], bound: 'every', metrics: [] },
  connection_limit: { levels: ['warn'], bound: 'unauthenticated', metrics: [] },
  email_missing: { levels: ['warn'], bound: 'by_writer', metrics: [] },
  events_suppressed: { levels: ['warn', 'audit'], bound: 'every', metrics: [] },
  idp_metadata_read: { levels: ['info'], bound: 'every', metrics: [] },
  idp_unreachable: { levels: ['warn'], bound: 'every', metrics: ['sallyport_failures_total'] },
  inject_listening: { levels: ['info'], bound: 'every', metrics: [] },
  issuer_keys_read: { levels: ['info'], bound: 'every', metrics: [] },
  issuer_mismatch: { levels: ['error'], bound: 'by_writer', metrics: ['sallyport_failures_total'] },
  issuer_unavailable: { levels: ['warn'], bound: 'every', metrics: ['sallyport_failures_total'] },
  kept_metadata_ignored: { levels: ['warn'], bound: 'every', metrics: [] },
  kept_metadata_read: { levels: ['info'], bound: 'every', metrics: [] },
  key_ring_unreadable: { levels: ['error'], bound: 'every', metrics: ['sallyport_failures_total'] },
  log_lines_left_out: { levels: ['warn'], bound: 'every', metrics: [] },
  metadata_not_kept: { levels: ['warn'], bound: 'every', metrics: ['sallyport_failures_total'] },
  rate_limited: { levels: ['debug'], bound: 'unauthenticated', metrics: ['sallyport_rate_limited_requests_total'] },
  renewal_failed: { levels: ['warn', 'error'], bound: 'unauthenticated', metrics: ['sallyport_renewals_total'] },
  renewal_unanswered: { levels: ['warn'], bound: 'unauthenticated', metrics: ['sallyport_renewals_total'] },
  renewal_unverified: { levels: ['warn'], bound: 'unauthenticated', metrics: ['sallyport_renewals_total'] },
  request_failed: { levels: ['error'], bound: 'unauthenticated', metrics: ['sallyport_failures_total'] },
  restart_begun: { levels: ['info'], bound: 'every', metrics: [] },
  restart_done: { levels: ['info'], bound: 'every', metrics: [] },
  restart_refused: { levels: ['warn'], bound: 'every', metrics: [] },
  restart_stopped: { levels: ['error'], bound: 'every', metrics: [] },
  restart_superseded: { levels: ['info'], bound: 'every', metrics: [] },
  review_refused: { levels: ['warn'], bound: 'unauthenticated', metrics: [] },
  rpc_broken_off: { levels: ['warn'], bound: 'unauthenticated', metrics: ['sallyport_failures_total'] },
  scrape_failed: { levels: ['error'], bound: 'every', metrics: [] },
  secret_file: { levels: ['warn', 'error'], bound: 'every', metrics: ['sallyport_failures_total'] },
  session_store_connected: { levels: ['info'], bound: 'every', metrics: [] },
  session_store_unusable: { levels: ['error'], bound: 'every', metrics: ['sallyport_failures_total'] },
  session_store_without_append_only_file: { levels: ['warn'], bound: 'every', metrics: [] },
  spans_dropped: { levels: ['warn'], bound: 'every', metrics: [] },
  stopping: { levels: ['info'], bound: 'every', metrics: [] },
  store_upkeep_failed: { levels: ['error'], bound: 'every', metrics: ['sallyport_failures_total'] },
  store_upkeep_restored: { levels: ['info'], bound: 'every', metrics: [] },
  sweep_failed: { levels: ['warn'], bound: 'every', metrics: ['sallyport_failures_total'] },
  token_file_failed: { levels: ['error'], bound: 'every', metrics: [] },
  token_obtained: { levels: ['info'], bound: 'every', metrics: [] },
  token_unavailable: { levels: ['warn'], bound: 'every', metrics: [] },
  verdict: { levels: ['info'], bound: 'by_writer', metrics: [] },
  verdict_undecided: { levels: ['error'], bound: 'unauthenticated', metrics: ['sallyport_failures_total'] },
  worker_ended: { levels: ['error'], bound: 'every', metrics: [] },
  worker_failed: { levels: ['error'], bound: 'every', metrics: [] },
  worker_killed: { levels: ['warn'], bound: 'every', metrics: [] },
  worker_listening: { levels: ['info'], bound: 'every', metrics: [] },
  // Events of the audit stream.
  audit_resumed: { levels: ['audit'], bound: 'every', metrics: [] },
  backchannel_logout: { levels: ['audit'], bound: 'every', metrics: ['sallyport_backchannel_logouts_total'] },
  backchannel_logout_refused: { levels: ['audit'], bound: 'unauthenticated', metrics: ['sallyport_backchannel_logouts_total'] },
  bearer_refused: { levels: ['audit'], bound: 'unauthenticated', metrics: [] },
  configuration_loaded: { levels: ['audit'], bound: 'every', metrics: ['sallyport_configuration_reloads_total'] },
  configuration_refused: { levels: ['audit'], bound: 'every', metrics: ['sallyport_configuration_reloads_total'] },
  key_ring_loaded: { levels: ['audit'], bound: 'every', metrics: [] },
  secret_loaded: { levels: ['audit'], bound: 'every', metrics: [] },
  session_begun: { levels: ['audit'], bound: 'every', metrics: ['sallyport_sessions_begun_total', 'sallyport_sign_ins_total'] },
  session_ended: { levels: ['audit'], bound: 'every', metrics: ['sallyport_sessions_ended_total', 'sallyport_renewals_total'] },
  session_renewed: { levels: ['audit'], bound: 'every', metrics: ['sallyport_renewals_total'] },
  session_renewing: { levels: ['audit'], bound: 'every', metrics: ['sallyport_renewals_sent_total'] },
  sign_in_failed: { levels: ['audit'], bound: 'unauthenticated', metrics: ['sallyport_sign_ins_total'] },
  sign_in_refused: { levels: ['audit'], bound: 'sign_ins', metrics: ['sallyport_sign_ins_total'] },
  sign_in_started: { levels: ['audit'], bound: 'sign_ins', metrics: ['sallyport_sign_ins_started_total'] },
  // Events of the embedded gateway and the embedded IdP of `sallyport up`.
  'gateway.answer_failed': { levels: ['info'], bound: 'unauthenticated', metrics: [] },
  'gateway.failed': { levels: ['info'], bound: 'unauthenticated', metrics: [] },
  'gateway.upstream_failed': { levels: ['info'], bound: 'unauthenticated', metrics: [] },
  'idp.api_key.created': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.api_key.refused': { levels: ['info'], bound: 'unauthenticated', metrics: [] },
  'idp.api_key.revoked': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.authorization.refused': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.backchannel_logout.delivered': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.backchannel_logout.failed': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.device.refused': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.failed': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.grant.revoked': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.introspection.refused': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.revocation.refused': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.sign_in.automatic': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.sign_in.limited': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.sign_in.refused': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.sign_in.succeeded': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.sign_out.refused': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.sign_out.succeeded': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.token.issued': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.token.refused': { levels: ['info'], bound: 'every', metrics: [] },
  'idp.userinfo.refused': { levels: ['info'], bound: 'every', metrics: [] },
} as const;

/** Name of an event. */
export type LogEvent = keyof typeof TABLE;

/** Levels of an event. */
export type LevelOf<Event extends LogEvent> = (typeof TABLE)[Event]['levels'][number];

/** Events with a line of this level. */
export type EventsAt<Level extends LogLevel> = {
  [Event in LogEvent]: Level extends LevelOf<Event> ? Event : never;
}[LogEvent];

/** Events that count for a metric. */
export type EventsCountedBy<Metric extends EventMetric> = {
  [Event in LogEvent]: Metric extends (typeof TABLE)[Event]['metrics'][number] ? Event : never;
}[LogEvent];

/** Row of each event. */
export const LOG_EVENTS: Readonly<Record<LogEvent, LogEventRow>> = TABLE;

/** Names of all events, in the order of the table. */
export const LOG_EVENT_NAMES: readonly LogEvent[] = Object.keys(TABLE) as LogEvent[];

/** Events that count for a metric, in the order of the table. */
export function eventsCountedBy<Metric extends EventMetric>(
  metric: Metric,
): readonly EventsCountedBy<Metric>[] {
  return LOG_EVENT_NAMES.filter((event): event is EventsCountedBy<Metric> =>
    LOG_EVENTS[event].metrics.includes(metric),
  );
}

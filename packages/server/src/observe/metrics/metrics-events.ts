/**
 * Counts what happens by the events of log and audit stream, whether or not a line of them is written.
 *
 * The tables below are everything that is counted. An event that is in none counts for nothing, and a
 * reason that is not in its list counts as `other`, so that the series are always the same.
 *
 * @module
 */

import type { AuditEventName } from '../../audit/audit.ts';
import type { LogFields } from '../../log/log.ts';
import type { EndReason } from '../../session/session-store.ts';
import { CounterFamily, type Metric } from './metrics-family.ts';

/** Complete, or it does not compile. */
const END_REASONS: Readonly<Record<EndReason | 'session_expired', true>> = {
  signed_out: true,
  session_replaced: true,
  session_revoked: true,
  renewal_refused: true,
  renewal_lost: true,
  session_expired: true,
};
const SIGN_IN_REFUSALS = ['not_allowed', 'session_revoked'];
const SIGN_IN_FAILURES = [
  'attempt_gone',
  'bad_request',
  'cookies_blocked',
  'idp_refused',
  'token_invalid',
  'idp_unreachable',
];
/** Lines that tell of something broken. */
const FAILURE_EVENTS = [
  'request_failed',
  'verdict_undecided',
  'key_ring_unreadable',
  'secret_file',
  'session_store_unusable',
  'store_upkeep_failed',
  'sweep_failed',
  'idp_unreachable',
  'issuer_unavailable',
  'authorization_server_metadata_failed',
  'metadata_not_kept',
  'rpc_broken_off',
];
const OTHER = 'other';
const NONE = 'none';

/** Counts one event; why it happened is a text of any kind. */
type Count = (reason: string) => void;

/** The counts, and who counts. */
export interface EventCounts {
  /** To be told of every event of the log, the audit stream's included. */
  note(event: string, fields: LogFields | undefined): void;
  /** Names of the events that count for something. */
  readonly events: readonly string[];
  read(): readonly Metric[];
}

/** Creates the counts, all 0. */
export function createEventCounts(): EventCounts {
  const signInsStarted = plain(
    'sallyport_sign_ins_started_total',
    'Sign-ins that were sent to the identity provider.',
  );
  const signIns = new CounterFamily({
    name: 'sallyport_sign_ins_total',
    help: 'Sign-ins that came to an end, by what came of them and why.',
    labels: ['result', 'reason'],
    series: [
      ['succeeded', NONE],
      ...withOther(SIGN_IN_REFUSALS).map((reason) => ['refused', reason] as const),
      ...withOther(SIGN_IN_FAILURES).map((reason) => ['failed', reason] as const),
    ],
  });
  const begun = plain('sallyport_sessions_begun_total', 'Sessions that began.');
  const ended = byLabel(
    'sallyport_sessions_ended_total',
    'Sessions that ended, by why. Those that an operator ends with the command are not among them.',
    'reason',
    withOther(Object.keys(END_REASONS)),
  );
  const renewalsSent = plain(
    'sallyport_renewals_sent_total',
    'Refresh tokens that were sent to the identity provider.',
  );
  const renewals = byLabel(
    'sallyport_renewals_total',
    'Renewals of sessions, by result. One that is unanswered counts again when it comes to its end.',
    'result',
    ['renewed', 'failed', 'unanswered', 'unverified', 'refused', 'lost'],
  );
  const backchannelLogouts = byLabel(
    'sallyport_backchannel_logouts_total',
    'Logout tokens of the identity provider, by result.',
    'result',
    ['accepted', 'refused', 'failed'],
  );
  const rateLimited = plain(
    'sallyport_rate_limited_requests_total',
    'Requests that were answered with 429.',
  );
  const failures = byLabel(
    'sallyport_failures_total',
    'Events of the log that tell of something broken.',
    'event',
    FAILURE_EVENTS,
  );
  const families = [
    signInsStarted,
    signIns,
    begun,
    ended,
    renewalsSent,
    renewals,
    backchannelLogouts,
    rateLimited,
    failures,
  ];

  const countEnd = by(ended, Object.keys(END_REASONS));
  const renewalEnds = new Map([
    ['renewal_refused', renewals.slot('refused')],
    ['renewal_lost', renewals.slot('lost')],
  ]);
  const audited: Partial<Record<AuditEventName, Count>> = {
    sign_in_started: once(signInsStarted, signInsStarted.slot()),
    session_begun() {
      begun.add(begun.slot());
      signIns.add(signIns.slot('succeeded', NONE));
    },
    sign_in_refused: ofSignIn('refused', SIGN_IN_REFUSALS),
    sign_in_failed: ofSignIn('failed', SIGN_IN_FAILURES),
    session_ended(reason) {
      countEnd(reason);
      const renewal = renewalEnds.get(reason);
      if (renewal !== undefined) renewals.add(renewal);
    },
    session_renewing: once(renewalsSent, renewalsSent.slot()),
    session_renewed: once(renewals, renewals.slot('renewed')),
    backchannel_logout: once(backchannelLogouts, backchannelLogouts.slot('accepted')),
    backchannel_logout_refused: once(backchannelLogouts, backchannelLogouts.slot('refused')),
  };
  const logged: Readonly<Record<string, Count>> = {
    renewal_failed: once(renewals, renewals.slot('failed')),
    renewal_unanswered: once(renewals, renewals.slot('unanswered')),
    renewal_unverified: once(renewals, renewals.slot('unverified')),
    backchannel_logout_failed: once(backchannelLogouts, backchannelLogouts.slot('failed')),
    rate_limited: once(rateLimited, rateLimited.slot()),
    ...Object.fromEntries(
      FAILURE_EVENTS.map((event) => [event, once(failures, failures.slot(event))]),
    ),
  };
  const table = new Map<string, Count>(Object.entries({ ...audited, ...logged }));

  return {
    note: (event, fields) => table.get(event)?.(String(fields?.['reason'])),
    events: [...table.keys()],
    read: () => families.map((family) => family.read()),
  };

  function ofSignIn(result: 'refused' | 'failed', reasons: readonly string[]): Count {
    const slots = new Map(reasons.map((reason) => [reason, signIns.slot(result, reason)]));
    const other = signIns.slot(result, OTHER);
    return (reason) => signIns.add(slots.get(reason) ?? other);
  }
}

function plain(name: string, help: string): CounterFamily {
  return new CounterFamily({ name, help, labels: [], series: [[]] });
}

function byLabel<const Name extends string>(
  name: string,
  help: string,
  label: Name,
  values: readonly string[],
): CounterFamily<readonly [Name]> {
  const series = values.map((value) => [value] as const);
  return new CounterFamily<readonly [Name]>({ name, help, labels: [label], series });
}

function once<Names extends readonly string[]>(family: CounterFamily<Names>, slot: number): Count {
  return () => family.add(slot);
}

/** Counts by the reason: only one of the list is looked up. */
function by(family: CounterFamily<readonly [string]>, reasons: readonly string[]): Count {
  const slots = new Map(reasons.map((reason) => [reason, family.slot(reason)]));
  const other = family.slot(OTHER);
  return (reason) => family.add(slots.get(reason) ?? other);
}

function withOther(values: readonly string[]): readonly string[] {
  return [...values, OTHER];
}

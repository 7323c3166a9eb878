/**
 * Counts events of log and audit stream, also those whose line is left out.
 *
 * The table of events says which event counts for which metric; the counts below are complete for it, or they do not compile. A
 * reason that is not in its list counts as `other`, so that the set of series never changes.
 *
 * @module
 */

import type { LogFields } from '../../log/log.ts';
import {
  type EventMetric,
  type EventsCountedBy,
  eventsCountedBy,
  type LogEvent,
} from '../../log/log-events.ts';
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
  'misconfigured',
  'token_invalid',
  'idp_unreachable',
];
const OTHER = 'other';
const NONE = 'none';

/** Metrics of this file; reloads are counted beside their gauges. */
type Counted = Exclude<EventMetric, 'sallyport_configuration_reloads_total'>;
type Failure = EventsCountedBy<'sallyport_failures_total'>;

/** Counts one event. The reason is a text of any kind. */
type Count = (reason: string) => void;

/** The counts, and what increments them. */
export interface EventCounts {
  /** To be called for every event of the log, the audit stream's included. */
  note(event: LogEvent, fields: LogFields | undefined): void;
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
    'Events of the log that report a failure.',
    'event',
    eventsCountedBy('sallyport_failures_total'),
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
  const counts: Readonly<Record<Exclude<EventsCountedBy<Counted>, Failure>, Count>> = {
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
    renewal_failed: once(renewals, renewals.slot('failed')),
    renewal_unanswered: once(renewals, renewals.slot('unanswered')),
    renewal_unverified: once(renewals, renewals.slot('unverified')),
    backchannel_logout: once(backchannelLogouts, backchannelLogouts.slot('accepted')),
    backchannel_logout_refused: once(backchannelLogouts, backchannelLogouts.slot('refused')),
    backchannel_logout_failed: once(backchannelLogouts, backchannelLogouts.slot('failed')),
    rate_limited: once(rateLimited, rateLimited.slot()),
  };
  const countByEvent = new Map<string, Count>([
    ...Object.entries(counts),
    ...eventsCountedBy('sallyport_failures_total').map(
      (event) => [event, once(failures, failures.slot(event))] as const,
    ),
  ]);

  return {
    note: (event, fields) => countByEvent.get(event)?.(String(fields?.['reason'])),
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

/** Counts by reason; a reason that is not in the list counts as `other`. */
function by(family: CounterFamily<readonly [string]>, reasons: readonly string[]): Count {
  const slots = new Map(reasons.map((reason) => [reason, family.slot(reason)]));
  const other = family.slot(OTHER);
  return (reason) => family.add(slots.get(reason) ?? other);
}

function withOther(values: readonly string[]): readonly string[] {
  return [...values, OTHER];
}

import { describe, expect, it } from 'vitest';
import {
  eventsCountedBy,
  LOG_EVENT_NAMES,
  LOG_EVENTS,
  type LogEvent,
} from '../../log/log-events.ts';
import { createEventCounts, type EventCounts } from './metrics-events.ts';

/** Series that are not 0, without the common prefix. */
function counted({ read }: Pick<EventCounts, 'read'>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    read().flatMap(({ name, values }) =>
      values
        .filter(({ value }) => value > 0)
        .map(({ labels, value }) => [
          [name.replace('sallyport_', ''), ...Object.values(labels)].join(' '),
          value,
        ]),
    ),
  );
}

function after(...events: readonly (readonly [event: LogEvent, reason?: string])[]) {
  const counts = createEventCounts();
  for (const [event, reason] of events)
    counts.note(event, reason === undefined ? undefined : { reason });
  return counted(counts);
}

describe('Events of log and audit stream are counted', () => {
  it.each([
    [['sign_in_started', 'no_credential'], { sign_ins_started_total: 1 }],
    [
      ['session_begun', 'signed_in'],
      { 'sign_ins_total succeeded none': 1, sessions_begun_total: 1 },
    ],
    [['sign_in_refused', 'not_allowed'], { 'sign_ins_total refused not_allowed': 1 }],
    [['sign_in_failed', 'attempt_gone'], { 'sign_ins_total failed attempt_gone': 1 }],
    [['session_ended', 'signed_out'], { 'sessions_ended_total signed_out': 1 }],
    [
      ['session_ended', 'renewal_refused'],
      { 'sessions_ended_total renewal_refused': 1, 'renewals_total refused': 1 },
    ],
    [
      ['session_ended', 'renewal_lost'],
      { 'sessions_ended_total renewal_lost': 1, 'renewals_total lost': 1 },
    ],
    [['session_renewing', 'due'], { renewals_sent_total: 1 }],
    [['session_renewed', 'confirmed'], { 'renewals_total renewed': 1 }],
    [['renewal_failed'], { 'renewals_total failed': 1 }],
    [['renewal_unanswered'], { 'renewals_total unanswered': 1 }],
    [['renewal_unverified'], { 'renewals_total unverified': 1 }],
    [['backchannel_logout', 'idp_logout'], { 'backchannel_logouts_total accepted': 1 }],
    [['backchannel_logout_refused', 'form'], { 'backchannel_logouts_total refused': 1 }],
    [['backchannel_logout_failed'], { 'backchannel_logouts_total failed': 1 }],
    [['rate_limited'], { rate_limited_requests_total: 1 }],
    [['key_ring_unreadable'], { 'failures_total key_ring_unreadable': 1 }],
  ] as const)('%j', (event, expected) => {
    expect(after(event)).toEqual(expected);
  });

  it('a reason that is in no list is other', () => {
    expect(
      after(['sign_in_failed', '__proto__'], ['session_ended', 'other'], ['sign_in_refused']),
    ).toEqual({
      'sign_ins_total failed other': 1,
      'sessions_ended_total other': 1,
      'sign_ins_total refused other': 1,
    });
  });

  it.each(LOG_EVENT_NAMES)('%s counts for the metrics of its row, and for no others', (event) => {
    const { metrics } = LOG_EVENTS[event];
    const reasons = event === 'session_ended' ? ['signed_out', 'renewal_refused'] : ['any'];
    const names = reasons.flatMap((reason) => Object.keys(after([event, reason])));
    const families = new Set(names.map((name) => `sallyport_${name.split(' ')[0]}`));
    // The reloads are counted by `createConfigurationCounts`.
    expect([...families].toSorted()).toEqual(
      metrics.filter((name) => name !== 'sallyport_configuration_reloads_total').toSorted(),
    );
  });

  it.each(['constructor', '__proto__', 'session_begun '])(
    '%j, which is no event, counts for nothing',
    (event) => {
      expect(after([event as LogEvent])).toEqual({});
    },
  );

  it('failures have a series each, those of the table and no others', () => {
    const [family] = createEventCounts()
      .read()
      .filter(({ name }) => name === 'sallyport_failures_total');
    expect(family?.values.map(({ labels }) => labels['event'])).toEqual(
      eventsCountedBy('sallyport_failures_total'),
    );
  });

  it('in as many series before the first as after thousands of any kind', () => {
    const counts = createEventCounts();
    const size = () => counts.read().flatMap(({ values }) => values).length;
    const before = size();
    for (let index = 0; index < 2_000; index += 1)
      for (const event of [...LOG_EVENT_NAMES, `event-${index}` as LogEvent])
        counts.note(event, { reason: `reason-${index}` });
    expect(size()).toBe(before);
  });
});

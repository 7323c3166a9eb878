/**
 * Bounds the lines that somebody can cause by asking, so that nobody fills a disk that way.
 *
 * @module
 */

import { type AuditEventName, createAudit, NO_REQUEST, NOBODY } from '../../audit/audit.ts';
import type { Log, LogFields } from '../../log/log.ts';
import { EventBudget, type EventRate } from '../../log/log-budget.ts';
import type { Schedule } from '../../time/schedule.ts';

/** What somebody without any session can cause, by asking. */
const STRANGERS: EventRate = { burst: 50, perSecond: 10 };
/** What stands at the beginning of every session; many people may sign in at once. */
const SIGN_INS: EventRate = { burst: 1_000, perSecond: 100 };

/** How much is written of each event of the audit stream; complete, or it does not compile. */
export const AUDIT_RATES: Readonly<Record<AuditEventName, EventRate | 'every'>> = {
  sign_in_started: SIGN_INS,
  sign_in_failed: STRANGERS,
  sign_in_refused: SIGN_INS,
  session_begun: 'every',
  session_renewing: 'every',
  session_renewed: 'every',
  session_ended: 'every',
  bearer_refused: STRANGERS,
  backchannel_logout: 'every',
  backchannel_logout_refused: STRANGERS,
  configuration_loaded: 'every',
  configuration_refused: 'every',
  secret_loaded: 'every',
  key_ring_loaded: 'every',
  events_suppressed: 'every',
  audit_resumed: 'every',
};

/**
 * Events of the log that come with requests or sessions, in an outage with each of them. Every other one
 * comes with a timer of ours, or with what an operator does.
 */
export const BOUNDED_EVENTS: readonly string[] = [
  'backchannel_logout_failed',
  'gateway.answer_failed',
  'gateway.failed',
  'gateway.upstream_failed',
  'rate_limited',
  'renewal_failed',
  'renewal_unanswered',
  'renewal_unverified',
  'request_failed',
  'rpc_broken_off',
  'verdict_undecided',
];

const RATES: ReadonlyMap<string, EventRate> = new Map([
  ...BOUNDED_EVENTS.map((event) => [event, STRANGERS] as const),
  ...Object.entries(AUDIT_RATES).flatMap(([event, rate]) =>
    rate === 'every' ? [] : [[event, rate] as const],
  ),
]);

/** A log whose floods are cut. */
export interface BoundedLog {
  readonly log: Log;
  /** Tells how many lines were left out that have not been told yet. */
  readonly close: () => void;
}

/** Puts the bounds in front of a log; once a second it says how many lines of an event were left out. */
export function boundLog(log: Log, schedule: Schedule): BoundedLog {
  const audit = createAudit(log);
  const strangers = new EventBudget({ schedule, onSuppressed });
  // Whoever sends nonsense must not hide what nobody causes without a token of an issuer's making.
  const verified = new EventBudget({ schedule, onSuppressed });

  return {
    log(level, event, fields) {
      if (isNoStrangers(event, fields)) {
        if (verified.take(event, SIGN_INS)) log(level, event, fields);
        return;
      }
      const rate = RATES.get(event);
      if (rate === undefined || strangers.take(event, rate)) log(level, event, fields);
    },
    close() {
      strangers.close();
      verified.close();
    },
  };

  function onSuppressed(event: string, suppressed: number): void {
    if (!Object.hasOwn(AUDIT_RATES, event)) {
      log('warn', 'events_suppressed', { suppressed_event: event, suppressed });
      return;
    }
    audit({
      event: 'events_suppressed',
      ...NOBODY,
      session: undefined,
      ...NO_REQUEST,
      reason: 'flood',
      suppressed_event: event,
      suppressed,
    });
  }
}

/** The audit stream names nobody but whose token was verified, and an ID token comes from the IdP itself. */
function isNoStrangers(event: string, fields: LogFields | undefined): boolean {
  if (event === 'sign_in_failed') return fields?.['reason'] === 'token_invalid';
  const subject = event === 'bearer_refused' ? fields?.['subject'] : undefined;
  return subject !== undefined && subject !== null;
}

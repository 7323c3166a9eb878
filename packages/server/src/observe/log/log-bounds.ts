/**
 * Bounds the lines that requests can cause, so that no client can fill a disk.
 *
 * @module
 */

import { createAudit, NO_PRINCIPAL, NO_REQUEST } from '../../audit/audit.ts';
import type { Log, LogFields } from '../../log/log.ts';
import { EventBudget } from '../../log/log-budget.ts';
import {
  EVENT_RATES,
  type EventBound,
  type EventRate,
  type EventsAt,
  LOG_EVENTS,
  type LogEvent,
} from '../../log/log-events.ts';
import type { Schedule } from '../../time/schedule.ts';

/** A log whose floods are cut. */
export interface BoundedLog {
  readonly log: Log;
  /** Logs how many lines were left out since the last `events_suppressed`. */
  readonly close: () => void;
}

/** Puts the bounds in front of a log; once a second it says how many lines of an event were left out. */
export function boundLog(log: Log, schedule: Schedule): BoundedLog {
  const audit = createAudit(log);
  const unverified = new EventBudget<LogEvent>({ schedule, onSuppressed });
  // Invalid tokens must not use up the budget of events that only a verified token can cause.
  const verified = new EventBudget<LogEvent>({ schedule, onSuppressed });

  return {
    log(level, event, fields) {
      if (isVerifiedActor(event, fields)) {
        if (verified.take(event, EVENT_RATES.sign_ins)) log(level, event, fields);
        return;
      }
      const rate = RATES[LOG_EVENTS[event].bound];
      if (rate === undefined || unverified.take(event, rate)) log(level, event, fields);
    },
    close() {
      unverified.close();
      verified.close();
    },
  };

  function onSuppressed(event: LogEvent, suppressed: number): void {
    if (!isAuditEvent(event)) {
      log('warn', 'events_suppressed', { suppressed_event: event, suppressed });
      return;
    }
    audit({
      event: 'events_suppressed',
      ...NO_PRINCIPAL,
      session: undefined,
      ...NO_REQUEST,
      reason: 'flood',
      suppressed_event: event,
      suppressed,
    });
  }
}

/** Rates by bound; no rate where `boundLog` leaves nothing out. */
const RATES: Readonly<Record<EventBound, EventRate | undefined>> = {
  ...EVENT_RATES,
  every: undefined,
  by_writer: undefined,
};

function isAuditEvent(event: LogEvent): event is EventsAt<'audit'> {
  return LOG_EVENTS[event].levels[0] === 'audit';
}

/** `true` if the event has a verified cause: a token with a verified subject, or an ID token, which comes from the IdP itself. */
function isVerifiedActor(event: LogEvent, fields: LogFields | undefined): boolean {
  if (event === 'sign_in_failed') return fields?.['reason'] === 'token_invalid';
  const subject = event === 'bearer_refused' ? fields?.['subject'] : undefined;
  return subject !== undefined && subject !== null;
}

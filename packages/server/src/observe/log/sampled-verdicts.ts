/**
 * The log of verdicts: a sample of the admissions, and what was refused or undecided, within a bound.
 *
 * @module
 */

import type { Log, LogFields } from '../../log/log.ts';
import { EventBudget } from '../../log/log-budget.ts';
import { EVENT_RATES } from '../../log/log-events.ts';
import { cutText } from '../../log/log-redaction.ts';
import { requestIdOf } from '../../log/request-id.ts';
import { formatSessionId } from '../../session/session-id.ts';
import type { Schedule } from '../../time/schedule.ts';
import type { CheckRequest } from '../../verdict/check-request.ts';
import type { Verdict } from '../../verdict/verdict.ts';
import type { DoorName, VerdictObserver } from '../verdict-observer.ts';

/** Settings and ports of {@link createVerdictLog}. */
export interface VerdictLogOptions {
  readonly log: Log;
  /** The part of the admissions that is written: 0 none, 1 every one. */
  readonly sampleSuccesses: number;
  /** At least 0, below 1. MUST NOT be predictable: a client that knows it can avoid the sample. */
  readonly random: () => number;
  readonly schedule: Schedule;
}

/** The observer, and what ends it. */
export interface VerdictLog {
  readonly observe: VerdictObserver;
  /** Logs how many lines were left out since the last `events_suppressed`. */
  close(): void;
}

/** Stays a small integer, so that counting it down allocates nothing. */
const GAP_MAX = 2 ** 30 - 1;
/** One bucket for refused, one for undecided requests. */
const BUCKETS = { refused: 'verdict refused', undecided: 'verdict undecided' } as const;
const PATH_MAX_LENGTH = 256;
const METHOD_MAX_LENGTH = 16;
/** W3C Trace Context: version, trace-id, parent-id, flags. */
const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/;

/**
 * Creates the observer.
 *
 * Every admission is in the sample with the same probability, whatever came before it: the number of those
 * to pass over is drawn anew each time, from crypto's randomness. One that is passed over costs a decrement.
 */
export function createVerdictLog(options: VerdictLogOptions): VerdictLog {
  const { log, sampleSuccesses, schedule } = options;
  // Before the request is read: refusals arrive as fast as a client can send requests.
  const budget = new EventBudget({
    schedule,
    onSuppressed: (event, suppressed) =>
      log('warn', 'events_suppressed', { suppressed_event: event, suppressed }),
  });
  const isSampling = sampleSuccesses > 0;
  let left = isSampling ? drawGap(options) : 0;

  return { observe, close: () => budget.close() };

  function observe(door: DoorName, verdict: Verdict, request: CheckRequest): void {
    if (verdict.outcome === 'admitted') {
      if (!isSampling) return;
      if (left > 0) {
        left -= 1;
        return;
      }
      left = drawGap(options);
    } else if (!budget.take(BUCKETS[verdict.outcome], EVENT_RATES.unauthenticated)) return;
    log('info', 'verdict', describe(door, verdict, request));
  }
}

/** How many to pass over before the next one: geometrically distributed. */
function drawGap({
  sampleSuccesses,
  random,
}: Pick<VerdictLogOptions, 'sampleSuccesses' | 'random'>): number {
  if (sampleSuccesses >= 1) return 0;
  const gap = Math.floor(Math.log1p(-random()) / Math.log1p(-sampleSuccesses));
  return Math.min(gap, GAP_MAX);
}

function describe(door: DoorName, verdict: Verdict, request: CheckRequest): LogFields {
  const principal = verdict.outcome === 'admitted' ? verdict.identity.principal : undefined;
  const session = verdict.outcome === 'admitted' ? verdict.session : undefined;
  return {
    door,
    outcome: verdict.outcome,
    reason: verdict.outcome === 'admitted' ? undefined : verdict.reason,
    issuer: principal?.issuer,
    subject: principal?.subject,
    session: session === undefined ? undefined : formatSessionId(session.id),
    method: request.method.slice(0, METHOD_MAX_LENGTH),
    path: pathOf(request),
    request_id: request.requestId ?? requestIdOf(request.headers),
    trace_id: traceOf(request),
  };
}

/** The path of the original request, as its door names it, without the query, which may hold anything. */
function pathOf({ target }: CheckRequest): string | undefined {
  // An absolute request target (RFC 9112 section 3.2.2) may name a user and a password.
  const path = target?.startsWith('/') === false ? URL.parse(target)?.pathname : target;
  const [shown] = path?.split(/[?#;]/, 1) ?? [];
  return shown === undefined ? undefined : cutText(shown, PATH_MAX_LENGTH);
}

function traceOf({ headers }: CheckRequest): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
}

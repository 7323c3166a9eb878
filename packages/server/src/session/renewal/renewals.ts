/**
 * The renewals of one process: one at a time for each session, however many requests ask.
 *
 * @module
 */

import {
  type Audit,
  type AuditOrigin,
  type AuditPrincipal,
  auditPrincipal,
  NO_PRINCIPAL,
  NO_REQUEST,
} from '../../audit/audit.ts';
import type { RequestSource } from '../../audit/audit-origin.ts';
import { describeFailure, type Log } from '../../log/log.ts';
import type { Tracer } from '../../trace/tracer.ts';
import { parseSessionHandle, type SessionHandle } from '../session-cookie.ts';
import { formatSessionId } from '../session-id.ts';
import type { Session } from '../session-record.ts';
import {
  type RenewalDependencies,
  type RenewalOutcome,
  renewSession,
  type SeenSession,
  UNANSWERED_MS,
} from './renewal.ts';
import { traceRenewal } from './trace-renewals.ts';

/** Dependencies of {@link Renewals}. */
export interface RenewalsOptions
  extends Omit<RenewalDependencies, 'isStopping' | 'onSent' | 'onUnanswered'> {
  /** At least 0, below 1. */
  readonly random: () => number;
  /** Called when the stored session differs from the one seen: cached verdicts on it no longer count. */
  readonly onChanged: (id: number) => void;
  /** Reads where the request comes from that had a renewal started. */
  readonly originOf: (request: RequestSource) => AuditOrigin;
  readonly log: Log;
  readonly audit: Audit;
  /** Absent where nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

/** A request waits this long for a renewal it cannot do without. */
const WAIT_MS = 12_000;
/** And this long for one that it can do without. */
const CONFIRM_WAIT_MS = 2_000;
/** What was put off is tried again after a random part of this at the latest, beyond the wait that was asked for. */
const SPREAD_MS = 5_000;
/** `Retry-After` for a request that waits for an answer that is late already. */
const LATE_RETRY_SECONDS = 5;
const PUT_OFF_LIMIT = 10_000;

/** One renewal under way, here or in another process. */
interface Flight {
  readonly outcome: Promise<RenewalOutcome>;
  /** Resolves when it takes longer than a request waits that can do without it. */
  readonly isLong: Promise<'it takes long'>;
  /** Whether it is so long under way that no request waits for it. */
  isLate: boolean;
}

/** When a renewal may be tried again, and whether the last one was put off by a failure and not by us. */
interface PutOff {
  readonly until: number;
  readonly hasFailed: boolean;
}

/** Starts renewals and lets requests wait for them. Never rejects: a failure is an outcome. */
export class Renewals {
  readonly #options: RenewalsOptions;
  readonly #flights = new Map<string, Flight>();
  /** Sessions whose renewal has just failed. */
  readonly #putOff = new Map<number, PutOff>();
  #isStopping = false;

  constructor(options: RenewalsOptions) {
    this.#options = options;
  }

  /**
   * Renews a session that is due, in the background.
   *
   * @param values - Cookie values of the request; the one of the session is used.
   * @param request - Named in the audit stream, when it is the one that has the renewal started.
   */
  start(values: readonly string[], seen: SeenSession, request?: RequestSource): void {
    if (this.#findPutOff(seen.id) === undefined) void this.#join(values, seen, request);
  }

  /**
   * Asks the IdP about a session that counts without, and waits for that: two seconds at most, counted from the
   * start of the renewal where it is under way already. Waits for nothing where the last one has just failed.
   *
   * Whatever came of it stands in the store.
   */
  async confirm(
    values: readonly string[],
    seen: SeenSession,
    request?: RequestSource,
  ): Promise<void> {
    const { schedule } = this.#options;
    const { promise: timeUp, resolve } = Promise.withResolvers<'time is up'>();
    const cancel = schedule(CONFIRM_WAIT_MS, () => resolve('time is up'));
    try {
      while (this.#findPutOff(seen.id)?.hasFailed !== true) {
        const { outcome, isLong } = this.#join(values, seen, request);
        const ended = await Promise.race([outcome, isLong, timeUp]);
        if (typeof ended === 'string' || ended.kind !== 'postponed' || this.#isStopping) return;
        const { retryAfterMs, cause } = ended;
        // Asking again helps against a full budget, not against an IdP that is away.
        if (cause !== undefined || retryAfterMs >= CONFIRM_WAIT_MS) return;
        const turn = new Promise<undefined>((wake) =>
          schedule(retryAfterMs, () => wake(undefined)),
        );
        if ((await Promise.race([turn, timeUp])) !== undefined) return;
      }
    } finally {
      cancel();
    }
  }

  /**
   * Renews a session that cannot be used before, waiting within a bound.
   *
   * One that is under way for {@link UNANSWERED_MS} is not waited for: the IdP counts as unreachable.
   *
   * @returns `undefined` when the session is worth another look, else the seconds after which it may be.
   */
  async finish(
    values: readonly string[],
    seen: SeenSession,
    request?: RequestSource,
  ): Promise<number | undefined> {
    const { now, schedule } = this.#options;
    const { promise: timeUp, resolve } = Promise.withResolvers<undefined>();
    const cancel = schedule(WAIT_MS, () => resolve(undefined));
    const endsAt = now() + WAIT_MS;
    try {
      for (;;) {
        const flight = this.#join(values, seen, request);
        if (flight.isLate) return LATE_RETRY_SECONDS;
        const outcome = await Promise.race([flight.outcome, timeUp]);
        if (outcome === undefined) return 1;
        if (outcome.kind !== 'postponed') return undefined;
        if (this.#isStopping) return 1;
        const { retryAfterMs, cause } = outcome;
        // Asking again helps against a full budget, not against an IdP that is away.
        if (cause !== undefined || now() + retryAfterMs >= endsAt)
          return Math.max(1, Math.ceil(retryAfterMs / 1_000));
        await new Promise<void>((wake) => schedule(retryAfterMs, wake));
      }
    } finally {
      cancel();
    }
  }

  /** From now on nothing new is sent; what waits for its turn, or for another process, is put off. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Resolves once nothing is under way any more: as long as an answer of the IdP is listened for. */
  async settle(): Promise<void> {
    await Promise.all([...this.#flights.values()].map(({ outcome }) => outcome));
  }

  #join(values: readonly string[], seen: SeenSession, request: RequestSource | undefined): Flight {
    const { id, generation } = seen;
    const key = `${id}/${generation}`;
    const flying = this.#flights.get(key);
    if (flying !== undefined) return flying;
    const { promise: isLong, resolve } = Promise.withResolvers<'it takes long'>();
    const handles = findHandles(values, id);
    if (handles.length === 0)
      return {
        outcome: Promise.resolve({ kind: 'ended', byUs: undefined }),
        isLong,
        isLate: false,
      };
    const { originOf, schedule } = this.#options;
    const origin = request === undefined ? NO_REQUEST : originOf(request);
    const timers = [
      schedule(CONFIRM_WAIT_MS, () => resolve('it takes long')),
      schedule(UNANSWERED_MS, () => {
        flight.isLate = true;
      }),
    ];
    const outcome = traceRenewal(
      () => this.#fly(handles, seen, origin),
      this.#options.tracer,
    ).finally(() => {
      for (const cancel of timers) cancel();
      this.#flights.delete(key);
    });
    const flight: Flight = { outcome, isLong, isLate: false };
    this.#flights.set(key, flight);
    return flight;
  }

  async #fly(
    handles: readonly SessionHandle[],
    seen: SeenSession,
    origin: AuditOrigin,
  ): Promise<RenewalOutcome> {
    const { onChanged, log, audit, now } = this.#options;
    const { id, generation } = seen;
    const session = formatSessionId(id);
    const request_id = origin.request_id;
    let who: AuditPrincipal = NO_PRINCIPAL;
    let sentAt = now();
    const onSent = ({ principal }: Session): void => {
      sentAt = now();
      who = auditPrincipal(principal);
      audit({
        event: 'session_renewing',
        ...who,
        session: id,
        ...origin,
        reason: 'due',
        generation,
      });
    };
    const onUnanswered = (): void => {
      const since = new Date(sentAt).toISOString();
      log('warn', 'renewal_unanswered', { session, request_id, since });
    };
    const isStopping = () => this.#isStopping;
    const dependencies = { ...this.#options, isStopping, onSent, onUnanswered };
    try {
      const outcome = await renewSession(dependencies, seen, handles);
      if (outcome.kind === 'postponed') {
        this.#delay(id, outcome.retryAfterMs, outcome.cause !== undefined);
        if (outcome.cause !== undefined)
          log('warn', 'renewal_failed', {
            session,
            request_id,
            failure: describeFailure(outcome.cause),
          });
        return outcome;
      }
      this.#putOff.delete(id);
      onChanged(id);
      if (outcome.kind === 'kept')
        log('warn', 'renewal_unverified', { session, request_id, check: outcome.check });
      if (outcome.kind === 'renewed' && outcome.byUs)
        audit({
          event: 'session_renewed',
          ...who,
          session: id,
          ...origin,
          reason: 'confirmed',
          generation: generation + 1,
        });
      if (outcome.kind === 'ended' && outcome.byUs !== undefined)
        audit({
          event: 'session_ended',
          ...who,
          session: id,
          ...origin,
          reason: outcome.byUs,
          error: outcome.code,
        });
      return outcome;
    } catch (cause) {
      log('error', 'renewal_failed', { session, request_id, failure: describeFailure(cause) });
      this.#delay(id, 0, true);
      return { kind: 'postponed', retryAfterMs: 1_000, cause };
    }
  }

  #findPutOff(id: number): PutOff | undefined {
    const putOff = this.#putOff.get(id);
    return putOff !== undefined && this.#options.now() < putOff.until ? putOff : undefined;
  }

  #delay(id: number, leastMs: number, hasFailed: boolean): void {
    const { now, random } = this.#options;
    // The oldest makes room; forgetting one costs no more than an early try.
    const oldest =
      this.#putOff.size >= PUT_OFF_LIMIT ? this.#putOff.keys().next().value : undefined;
    if (oldest !== undefined) this.#putOff.delete(oldest);
    this.#putOff.set(id, { until: now() + leastMs + 1_000 + SPREAD_MS * random(), hasFailed });
  }
}

/** Also a planted cookie of the same id is among them; which one opens the session is seen when it is read. */
function findHandles(values: readonly string[], id: number): readonly SessionHandle[] {
  return values
    .map(parseSessionHandle)
    .filter((handle): handle is SessionHandle => handle?.id === id);
}

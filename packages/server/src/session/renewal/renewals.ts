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
  NO_REQUEST,
  NOBODY,
} from '../../observe/audit/audit.ts';
import type { RequestSource } from '../../observe/audit/audit-origin.ts';
import { describeFailure, type Log } from '../../observe/log/log.ts';
import { traceRenewal } from '../../observe/traces/trace-renewals.ts';
import type { Tracer } from '../../observe/traces/tracer.ts';
import { parseSessionHandle, type SessionHandle } from '../session-cookie.ts';
import { formatSessionId } from '../session-id.ts';
import type { Session } from '../session-record.ts';
import {
  type RenewalDependencies,
  type RenewalOutcome,
  renewSession,
  type SeenSession,
} from './renewal.ts';

/** Dependencies of {@link Renewals}. */
export interface RenewalsOptions extends Omit<RenewalDependencies, 'isStopping' | 'onSent'> {
  /** At least 0, below 1. */
  readonly random: () => number;
  /** Told when the stored session is another one than was seen: nothing remembered of it counts. */
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
/** What was put off is tried again after a random part of this at the latest, beyond what it was told. */
const SPREAD_MS = 5_000;
const PUT_OFF_LIMIT = 10_000;

/** Starts renewals and lets requests wait for them. Never rejects: a failure is an outcome. */
export class Renewals {
  readonly #options: RenewalsOptions;
  readonly #flights = new Map<string, Promise<RenewalOutcome>>();
  /** Sessions whose renewal has just failed, with the moment it may be tried again. */
  readonly #putOff = new Map<number, number>();
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
    const until = this.#putOff.get(seen.id);
    if (until !== undefined && this.#options.now() < until) return;
    void this.#join(values, seen, request);
  }

  /**
   * Renews a session that cannot be used before, waiting within a bound.
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
        const outcome = await Promise.race([this.#join(values, seen, request), timeUp]);
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

  /** Resolves once nothing is under way any more. */
  async settle(): Promise<void> {
    await Promise.all(this.#flights.values());
  }

  #join(
    values: readonly string[],
    seen: SeenSession,
    request: RequestSource | undefined,
  ): Promise<RenewalOutcome> {
    const { id, generation } = seen;
    const key = `${id}/${generation}`;
    const flying = this.#flights.get(key);
    if (flying !== undefined) return flying;
    const handles = findHandles(values, id);
    if (handles.length === 0) return Promise.resolve({ kind: 'ended', byUs: undefined });
    const origin = request === undefined ? NO_REQUEST : this.#options.originOf(request);
    const flight = traceRenewal(
      () => this.#fly(handles, seen, origin),
      this.#options.tracer,
    ).finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return flight;
  }

  async #fly(
    handles: readonly SessionHandle[],
    seen: SeenSession,
    origin: AuditOrigin,
  ): Promise<RenewalOutcome> {
    const { onChanged, log, audit } = this.#options;
    const { id, generation } = seen;
    const session = formatSessionId(id);
    const request_id = origin.request_id;
    let who: AuditPrincipal = NOBODY;
    const onSent = ({ principal }: Session): void => {
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
    try {
      const isStopping = () => this.#isStopping;
      const outcome = await renewSession({ ...this.#options, isStopping, onSent }, seen, handles);
      if (outcome.kind === 'postponed') {
        this.#delay(id, outcome.retryAfterMs);
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
      this.#delay(id, 0);
      return { kind: 'postponed', retryAfterMs: 1_000, cause };
    }
  }

  #delay(id: number, leastMs: number): void {
    const { now, random } = this.#options;
    // The oldest makes room; forgetting one costs no more than an early try.
    const oldest =
      this.#putOff.size >= PUT_OFF_LIMIT ? this.#putOff.keys().next().value : undefined;
    if (oldest !== undefined) this.#putOff.delete(oldest);
    this.#putOff.set(id, now() + leastMs + 1_000 + SPREAD_MS * random());
  }
}

/** Also a planted cookie of the same id is among them; which one opens the session is seen when it is read. */
function findHandles(values: readonly string[], id: number): readonly SessionHandle[] {
  return values
    .map(parseSessionHandle)
    .filter((handle): handle is SessionHandle => handle?.id === id);
}

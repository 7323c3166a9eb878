/**
 * The verdict, put together: session cookies, bearer tokens, renewals, and the check that doors ask.
 *
 * @module
 */

import { randomBytes } from 'node:crypto';
import type { AdminServerOptions } from './admin-server-options.ts';
import type { ReadOrigin } from './audit/audit-origin.ts';
import { createBearerVerifier, type RunningBearerVerifier } from './bearer/bearer-verifier.ts';
import { createIssuerFetch } from './issuer/issuer-request.ts';
import { IssuerMismatch } from './issuer/metadata/issuer-mismatch.ts';
import { describeFailure } from './log/log.ts';
import { RenewalBudget } from './session/renewal/renewal-budget.ts';
import { Renewals } from './session/renewal/renewals.ts';
import type { SessionPart } from './session-part.ts';
import { selectAccessClaims } from './verdict/access.ts';
import { type Check, createCheck } from './verdict/check.ts';
import { selectBearerHeaders } from './verdict/credential.ts';
import {
  createSessionVerifier,
  type RememberingSessionVerifier,
} from './verdict/session-verifier.ts';
import { toUserRecord } from './verdict/user-record.ts';

/** What decides. */
export interface VerdictPart {
  /** Not counted and not logged; doors get theirs from `ask`. */
  readonly check: Check;
  readonly bearer: RunningBearerVerifier;
  readonly verifier: RememberingSessionVerifier;
  readonly renewals: Renewals;
  /** Names of the headers in which a bearer may come. */
  readonly bearerHeaders: ReturnType<typeof selectBearerHeaders>;
  /** Lets renewals under way come to their end, within {@link SETTLE_MS}, and closes the rest. */
  close(): Promise<void>;
}

/** A renewal that takes longer when the process ends is given up, as one of a process that was killed. */
const SETTLE_MS = 15_000;
/** More would only wait for each other at the IdP. */
const RENEWALS_AT_ONCE = 16;
/**
 * More than there can be: of those at once each is late after a minute, and given up after ten. A bound all the
 * same, since each is a connection and a lease that is prolonged.
 */
const RENEWALS_LISTENING = 256;
/** Steps of {@link random}. */
const RANDOM_STEPS = 2 ** 32;

/** Begins to fetch the issuers' keys. */
export function createVerdictPart(
  options: AdminServerOptions,
  { cookies, ring, sessions, generation }: SessionPart,
  originOf: ReadOrigin,
): VerdictPart {
  const { store, now, schedule, log, claimHeaders } = options;
  const bearerHeaders = selectBearerHeaders(options.bearer);
  const access = () => options.access;
  const onOutage = (cause: unknown) =>
    log('error', 'verdict_undecided', { failure: describeFailure(cause) });
  const bearer = createBearerVerifier({
    settings: options.bearer.accepts,
    issuers: options.issuers,
    fetch: createIssuerFetch(options),
    access,
    claimHeaders,
    generation,
    now,
    schedule,
    onKeysLoaded: (issuer, ignored) => log('info', 'issuer_keys_read', { issuer, ignored }),
    onFailure: (issuer, cause) => {
      // Logged once for all that ask this issuer.
      if (cause instanceof IssuerMismatch) return;
      log('warn', 'issuer_unavailable', { issuer, failure: describeFailure(cause) });
    },
  });
  const verifier = createSessionVerifier({
    cookies,
    sessions,
    store,
    ring,
    generation,
    access,
    claimHeaders,
    subjectPrefix: options.bearer.subjectPrefix,
    now,
    onOutage,
  });
  const renewals = new Renewals({
    store,
    ring,
    tokens: options.relyingParty,
    budget: new RenewalBudget({
      now,
      random,
      perSecond: options.renewalsPerSecond,
      atOnce: RENEWALS_AT_ONCE,
      listening: RENEWALS_LISTENING,
    }),
    lifetimes: options.lifetimes,
    keepClaims: (claims) => ({
      user: toUserRecord(claims, claimHeaders, access().emailTrusted),
      claims: selectAccessClaims(claims, access()),
    }),
    now,
    schedule,
    random,
    onChanged: (id) => verifier.forget(id),
    originOf,
    log,
    audit: options.audit,
    tracer: options.tracer,
  });
  const check = createCheck({
    publicOrigin: options.publicUrl.origin,
    credentials: { sessionCookieName: cookies.sessionName, bearerHeaders },
    sessions: verifier,
    renewals,
    bearer,
    onOutage,
  });
  return {
    check,
    bearer,
    verifier,
    renewals,
    bearerHeaders,
    async close() {
      renewals.stop();
      const { promise: timeUp, resolve } = Promise.withResolvers<void>();
      const cancel = schedule(SETTLE_MS, resolve);
      await Promise.race([renewals.settle(), timeUp]);
      cancel();
      bearer.close();
    },
  };
}

function random(): number {
  return randomBytes(4).readUInt32BE() / RANDOM_STEPS;
}

/**
 * The verdict: recalls what is remembered, else decides.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { Renewals } from '../session/renewal/renewals.ts';
import type { CheckRequest } from './check-request.ts';
import { type Credential, type CredentialSettings, readCredential } from './credential.ts';
import { isCrossSiteWrite } from './cross-site.ts';
import type { SessionVerifier } from './session-verifier.ts';
import type { Refused, Undecided, Verdict } from './verdict.ts';

/** Verifies bearer tokens. */
export interface BearerVerifier {
  /** Synchronous and in memory; `undefined` means: decide. */
  recall(token: string): Verdict | undefined;
  /** Synchronous where nothing has to be asked; rejects only on an outage. */
  decide(token: string): Verdict | Promise<Verdict>;
}

/** Everything a verdict depends on. */
export interface CheckDependencies {
  readonly publicOrigin: string;
  readonly credentials: CredentialSettings;
  /** Absent: session cookies count for nothing. */
  readonly sessions?: SessionVerifier;
  /** Asks the IdP about sessions; absent: sessions count as long as their record says. */
  readonly renewals?: Pick<Renewals, 'start' | 'confirm' | 'finish'>;
  /** Absent: every bearer is refused with `bearer_not_accepted`. */
  readonly bearer?: BearerVerifier;
  /** Called at an outage, with its cause. */
  readonly onOutage: (cause: unknown) => void;
}

/** Decides on one request; synchronous when the verdict is remembered. */
export type Check = (request: CheckRequest) => Verdict | Promise<Verdict>;

const NO_CREDENTIAL: Refused = { outcome: 'refused', reason: 'no_credential' };
const AMBIGUOUS: Refused = { outcome: 'refused', reason: 'ambiguous_credentials' };
const BEARER_NOT_ACCEPTED: Refused = { outcome: 'refused', reason: 'bearer_not_accepted' };

/**
 * Creates the check that every door asks.
 *
 * It never throws and never rejects: whatever goes wrong is `undecided`. It ends no
 * session. One that is due for renewal is admitted at once and renewed in the background; one whose
 * confirmation ran out while it was not in use is renewed first, and admitted all the same where the IdP does
 * not answer within two seconds; one that counts no longer unasked waits for its renewal, within a bound.
 */
export function createCheck(dependencies: CheckDependencies): Check {
  const { publicOrigin, credentials, sessions, renewals, bearer, onOutage } = dependencies;

  return function check(request) {
    let credential: Credential = { kind: 'none' };
    try {
      credential = readCredential(request, credentials);
      const verdict = decide(credential, request);
      if (!(verdict instanceof Promise)) return guard(verdict, request);
      const { kind } = credential;
      return verdict
        .then((decided) => guard(decided, request))
        .catch((cause: unknown) => undecided(cause, kind));
    } catch (cause) {
      return undecided(cause, credential.kind);
    }
  };

  function decide(credential: Credential, request: CheckRequest): Verdict | Promise<Verdict> {
    switch (credential.kind) {
      case 'none':
        return NO_CREDENTIAL;
      case 'ambiguous':
        return AMBIGUOUS;
      case 'bearer':
        if (bearer === undefined) return BEARER_NOT_ACCEPTED;
        return bearer.recall(credential.token) ?? bearer.decide(credential.token);
      case 'session':
        if (sessions === undefined) return NO_CREDENTIAL;
        return decideSession(sessions, credential.values, request);
    }
  }

  function decideSession(
    verifier: SessionVerifier,
    values: readonly string[],
    request: CheckRequest,
  ): Verdict | Promise<Verdict> {
    const recalled = verifier.recall(values, request.isPassive === true);
    if (recalled === undefined) return renewAndDecide(verifier, values, request);
    renewIfDue(recalled, values, request);
    return recalled;
  }

  async function renewAndDecide(
    verifier: SessionVerifier,
    values: readonly string[],
    request: CheckRequest,
  ): Promise<Verdict> {
    const isPassive = request.isPassive === true;
    let verdict = await verifier.decide(values, isPassive);
    if (verdict.outcome === 'unconfirmed') {
      await renewals?.confirm(values, verdict, request);
      // The store holds the result of the renewal: renewed, ended, or unchanged.
      verdict = await verifier.decide(values, isPassive, verdict.id);
    }
    if (verdict.outcome === 'overdue') {
      const waitSeconds = await renewals?.finish(values, verdict, request);
      if (waitSeconds === undefined) verdict = await verifier.decide(values, isPassive);
      if (verdict.outcome === 'overdue') return notRenewed(waitSeconds);
    }
    // The request carries two sessions, and the renewal was of the other one.
    if (verdict.outcome === 'unconfirmed') return notRenewed();
    renewIfDue(verdict, values, request);
    return verdict;
  }

  function renewIfDue(verdict: Verdict, values: readonly string[], request: CheckRequest): void {
    if (verdict.outcome === 'admitted' && verdict.renewal === 'due' && verdict.session)
      renewals?.start(values, verdict.session, request);
  }

  /** The cross-site rule stands on every admission by cookie, remembered or not. */
  function guard(verdict: Verdict, request: CheckRequest): Verdict {
    if (verdict.outcome !== 'admitted' || verdict.session === undefined) return verdict;
    if (!isCrossSiteWrite(request, publicOrigin)) return verdict;
    return { outcome: 'refused', reason: 'cross_site', user: verdict.identity.user };
  }

  function undecided(cause: unknown, kind: Credential['kind']): Undecided {
    onOutage(cause);
    const seconds = cause instanceof SallyportError ? cause.retryAfterSeconds : undefined;
    return {
      outcome: 'undecided',
      reason: kind === 'bearer' ? 'issuer_unavailable' : 'store_unavailable',
      retryAfterSeconds: seconds ?? 1,
    };
  }
}

function notRenewed(retryAfterSeconds = 1): Undecided {
  return { outcome: 'undecided', reason: 'renewal_unavailable', retryAfterSeconds };
}

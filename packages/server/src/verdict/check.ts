/**
 * The verdict: recalls what is remembered, else decides.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { KeyRing } from '../session/key-ring.ts';
import { type CookieSettings, setSessionCookie } from '../session/session-cookie.ts';
import { type Session, sessionEnd } from '../session/session-record.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Sessions } from '../session/sessions.ts';
import { type AccessRules, findAccessRefusal } from './access.ts';
import type { CheckRequest } from './check-request.ts';
import { type Credential, type CredentialSettings, readCredential } from './credential.ts';
import { isCrossSiteWrite } from './cross-site.ts';
import type { Generation } from './generation.ts';
import { prepareIdentity } from './identity.ts';
import { type RememberedSession, RememberedSessions } from './remembered.ts';
import type { Admitted, Identity, Refused, Undecided, Verdict } from './verdict.ts';

/** Verifies a bearer token. Resolves; rejects only on an outage. */
export type BearerVerifier = (token: string) => Promise<Verdict>;

/** Everything a verdict depends on. */
export interface CheckDependencies {
  readonly publicOrigin: string;
  readonly credentials: CredentialSettings;
  readonly cookies: CookieSettings;
  readonly sessions: Sessions;
  readonly store: SessionStore;
  readonly ring: KeyRing;
  readonly generation: Generation;
  /** Read at each decision, so that a reload takes effect with the generation's bump. */
  readonly access: () => AccessRules;
  readonly claimHeaders: readonly string[];
  /** Absent: every bearer is refused with `bearer_not_accepted`. */
  readonly verifyBearer?: BearerVerifier;
  readonly now: () => number;
  /** Told of an outage, with its cause, and of a use that could not be noted. */
  readonly onOutage: (cause: unknown) => void;
}

/** Decides on one request; synchronous when the verdict is remembered. */
export type Check = (request: CheckRequest) => Verdict | Promise<Verdict>;

/** A use is noted, and the cookie slid, at most this often. */
const NOTE_USE_EVERY_MS = 60_000;
/** The store is read again at least this often, whatever the revocation log says. */
const READ_AGAIN_AFTER_MS = 300_000;
const REMEMBERED_LIMIT = 50_000;

const UNDECIDED: Undecided = {
  outcome: 'undecided',
  reason: 'store_unavailable',
  retryAfterSeconds: 1,
};
const NO_CREDENTIAL: Refused = { outcome: 'refused', reason: 'no_credential' };
const AMBIGUOUS: Refused = { outcome: 'refused', reason: 'ambiguous_credentials' };
const BEARER_NOT_ACCEPTED: Refused = { outcome: 'refused', reason: 'bearer_not_accepted' };

/**
 * Creates the check that every door asks.
 *
 * It never throws and never rejects: whatever goes wrong is `undecided`. It performs no renewal and
 * ends no session.
 */
export function createCheck(dependencies: CheckDependencies): Check {
  const { publicOrigin, credentials, cookies, sessions, store, ring, generation, now, onOutage } =
    dependencies;
  const remembered = new RememberedSessions(REMEMBERED_LIMIT);
  let revocationsSeen = 0;

  return function check(request: CheckRequest): Verdict | Promise<Verdict> {
    try {
      const credential = readCredential(request, credentials);
      if (credential.kind === 'none') return NO_CREDENTIAL;
      if (credential.kind === 'ambiguous') return AMBIGUOUS;
      const recalled = recall(credential);
      return recalled === undefined ? decideSafely(credential, request) : guard(recalled, request);
    } catch (cause) {
      return undecided(cause);
    }
  };

  /** Synchronous and in memory; `undefined` means: decide. Throws when the store cannot say what was revoked. */
  function recall(credential: Credential): Admitted | undefined {
    if (credential.kind !== 'session') return undefined;
    ring.poll();
    forgetRevoked();
    const value = credential.values.length === 1 ? credential.values[0] : undefined;
    const entry = value === undefined ? undefined : remembered.get(value);
    if (value === undefined || entry === undefined) return undefined;
    const time = now();
    // `readAgainAt` also bounds a clock that was set back.
    const isFresh =
      entry.generation === generation.current &&
      time < sessionEnd(entry.session) &&
      time < entry.readAgainAt &&
      time >= entry.readAgainAt - READ_AGAIN_AFTER_MS;
    if (!isFresh) {
      remembered.drop(entry.session.id);
      return undefined;
    }
    return admit(entry, value, time);
  }

  function forgetRevoked(): void {
    const revoked = store.revocations();
    if (!revoked.all && revoked.sessions.length === 0) return;
    revocationsSeen += 1;
    if (revoked.all) remembered.clear();
    for (const id of revoked.sessions) remembered.drop(id);
  }

  async function decideSafely(credential: Credential, request: CheckRequest): Promise<Verdict> {
    try {
      return guard(await decide(credential), request);
    } catch (cause) {
      return undecided(cause);
    }
  }

  async function decide(credential: Credential): Promise<Verdict> {
    if (credential.kind === 'bearer')
      return (await dependencies.verifyBearer?.(credential.token)) ?? BEARER_NOT_ACCEPTED;
    if (credential.kind !== 'session') return NO_CREDENTIAL;
    let refusal: Refused = NO_CREDENTIAL;
    for (const value of credential.values) {
      const verdict = await decideSession(value);
      if (verdict.outcome !== 'refused') return verdict;
      if (refusal.reason !== 'not_allowed') refusal = verdict;
    }
    return refusal;
  }

  async function decideSession(value: string): Promise<Verdict> {
    // Taken before the read: what changes meanwhile makes the result good for this request only.
    const generationAtRead = generation.current;
    const revocationsAtRead = revocationsSeen;
    const session = await sessions.find(value);
    if (typeof session === 'string') return { outcome: 'refused', reason: session };
    if (findAccessRefusal(session.principal, session.claims, dependencies.access()) !== undefined) {
      return { outcome: 'refused', reason: 'not_allowed', user: session.user };
    }
    const identity = prepareIdentity(session, dependencies.claimHeaders);
    if (identity === 'claims_overflow')
      return { outcome: 'refused', reason: 'not_allowed', user: session.user };
    const time = now();
    const entry: RememberedSession = {
      session,
      identity,
      admitted: toAdmitted(session, identity),
      readAgainAt: time + READ_AGAIN_AFTER_MS,
      generation: generationAtRead,
    };
    if (revocationsSeen === revocationsAtRead) remembered.set(value, entry);
    return admit(entry, value, time);
  }

  function admit(entry: RememberedSession, value: string, time: number): Admitted {
    if (time - entry.session.lastUsedAt < NOTE_USE_EVERY_MS) return entry.admitted;
    const session = { ...entry.session, lastUsedAt: time };
    entry.session = session;
    entry.admitted = toAdmitted(session, entry.identity);
    // A use that cannot be noted shortens the idle time by a minute; the request itself is decided.
    sessions.noteUse(session.id, time).catch(onOutage);
    return {
      ...entry.admitted,
      setCookie: setSessionCookie(cookies, value, sessions.maxAgeSeconds(session)),
    };
  }

  /** The cross-site rule stands on every admission by cookie, remembered or not. */
  function guard(verdict: Verdict, request: CheckRequest): Verdict {
    if (verdict.outcome !== 'admitted' || verdict.session === undefined) return verdict;
    if (!isCrossSiteWrite(request, publicOrigin)) return verdict;
    return { outcome: 'refused', reason: 'cross_site', user: verdict.identity.user };
  }

  function undecided(cause: unknown): Undecided {
    onOutage(cause);
    const seconds = cause instanceof SallyportError ? cause.retryAfterSeconds : undefined;
    return seconds === undefined ? UNDECIDED : { ...UNDECIDED, retryAfterSeconds: seconds };
  }
}

function toAdmitted(session: Session, identity: Identity): Admitted {
  return {
    outcome: 'admitted',
    identity,
    session: {
      id: session.id,
      createdAt: session.createdAt,
      endsAt: sessionEnd(session),
      absoluteEnd: session.absoluteEnd,
    },
    setCookie: undefined,
  };
}

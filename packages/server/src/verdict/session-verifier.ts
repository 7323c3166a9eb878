/**
 * The verdict on a session cookie: recalls what is remembered, else opens the session.
 *
 * @module
 */

import type { KeyRing } from '../session/key-ring.ts';
import { type CookieSettings, setSessionCookie } from '../session/session-cookie.ts';
import { type Session, sessionEnd } from '../session/session-record.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Sessions } from '../session/sessions.ts';
import { isAdmittedUnasked, isUseWorthNoting } from '../session/validation.ts';
import { type AccessRules, findAccessRefusal } from './access.ts';
import type { Occupancy } from './bounded-cache.ts';
import type { Generation } from './generation.ts';
import { prepareIdentity } from './identity.ts';
import { type RememberedSession, RememberedSessions } from './remembered.ts';
import type { Admitted, Identity, Overdue, Refused, Unconfirmed, Verdict } from './verdict.ts';

/** Everything a verdict on a session depends on. */
export interface SessionVerifierDependencies {
  readonly cookies: CookieSettings;
  readonly sessions: Sessions;
  readonly store: SessionStore;
  readonly ring: KeyRing;
  readonly generation: Generation;
  /** Read at each decision, so that a reload takes effect with the generation's bump. */
  readonly access: () => AccessRules;
  readonly claimHeaders: readonly string[];
  /** Put before subjects where backends see them; by default nothing is. */
  readonly subjectPrefix?: string;
  readonly now: () => number;
  /** Called when a use could not be noted. */
  readonly onOutage: (cause: unknown) => void;
}

/** Verifies session cookies. */
export interface SessionVerifier {
  /**
   * Synchronous and in memory; `undefined` means: decide. Throws when the store cannot say what was revoked.
   *
   * @param isPassive - Notes no use; `false` by default.
   */
  recall(values: readonly string[], isPassive?: boolean): Admitted | undefined;
  /**
   * Rejects only on an outage. `isPassive` as in `recall`.
   *
   * @param asked - Id of a session about which the IdP was just asked: that it could not say is no reason any
   *   more to ask it first. Only this session can be admitted by that.
   */
  decide(
    values: readonly string[],
    isPassive?: boolean,
    asked?: number,
  ): Promise<Verdict | Unconfirmed | Overdue>;
  /** Drops what is remembered of a session: the stored one has changed. */
  forget(sessionId: number): void;
}

/** A verifier that reports how many verdicts it remembers. */
export interface RememberingSessionVerifier extends SessionVerifier {
  /** Verdicts in memory. */
  remembered(): Occupancy;
}

/** The store is read again at least this often, whatever the revocation log says. */
const READ_AGAIN_AFTER_MS = 300_000;
/** Some 1.5 kB each; a session that made room is read from the store again, which takes a few times as long. */
const REMEMBERED_LIMIT = 8_192;

const NO_CREDENTIAL: Refused = { outcome: 'refused', reason: 'no_credential' };

/** Creates the verifier. It performs no renewal and ends no session. */
export function createSessionVerifier(
  dependencies: SessionVerifierDependencies,
): RememberingSessionVerifier {
  const { cookies, sessions, store, ring, generation, now, onOutage } = dependencies;
  const remembered = new RememberedSessions(REMEMBERED_LIMIT);
  let revocationsSeen = 0;

  return {
    recall(values, isPassive = false) {
      ring.poll();
      forgetRevoked();
      const value = values.length === 1 ? values[0] : undefined;
      const entry = value === undefined ? undefined : remembered.get(value);
      if (value === undefined || entry === undefined) return undefined;
      const time = now();
      if (!isFresh(entry, generation.current, time)) {
        remembered.drop(entry.admitted.session.id);
        return undefined;
      }
      return admit(entry, value, time, isPassive);
    },

    decide: (values, isPassive = false, asked) => decideSessions(values, isPassive, asked),

    forget: (sessionId) => remembered.drop(sessionId),

    remembered: () => ({ size: remembered.size, limit: REMEMBERED_LIMIT }),
  };

  function forgetRevoked(): void {
    const revoked = store.revocations();
    if (!revoked.all && revoked.sessions.length === 0) return;
    revocationsSeen += 1;
    if (revoked.all) remembered.clear();
    for (const id of revoked.sessions) remembered.drop(id);
  }

  /**
   * The first that counts; else what would help most: an answer of the IdP, a renewal, other access rules, or a
   * reason that is more than not to know a session, which is what is said of a planted one.
   */
  async function decideSessions(
    values: readonly string[],
    isPassive: boolean,
    asked: number | undefined,
  ): Promise<Verdict | Unconfirmed | Overdue> {
    // Taken before the read: what changes meanwhile makes the result good for this request only.
    const atRead = { generation: generation.current, revocations: revocationsSeen };
    const found = await sessions.findAll(values);
    let refusal: Refused = NO_CREDENTIAL;
    let unconfirmed: Unconfirmed | undefined;
    let overdue: Overdue | undefined;
    for (const [index, value] of values.entries()) {
      const session = found[index] ?? 'session_unknown';
      const verdict =
        typeof session === 'string'
          ? ({ outcome: 'refused', reason: session } as const)
          : judge(value, session, atRead, { isPassive, asked });
      if (verdict.outcome === 'unconfirmed') unconfirmed ??= verdict;
      else if (verdict.outcome === 'overdue') overdue ??= verdict;
      else if (verdict.outcome !== 'refused') return verdict;
      else if (saysMore(verdict, refusal)) refusal = verdict;
    }
    return unconfirmed ?? overdue ?? refusal;
  }

  /** Says what a session counts for, and remembers it where it does. */
  function judge(
    value: string,
    session: Session,
    atRead: { readonly generation: number; readonly revocations: number },
    { isPassive, asked }: { readonly isPassive: boolean; readonly asked: number | undefined },
  ): Admitted | Refused | Unconfirmed | Overdue {
    const { id, generation: renewals, validUntil } = session;
    if (validUntil !== undefined && now() >= validUntil)
      return { outcome: 'overdue', id, generation: renewals };
    if (id !== asked && !isAdmittedUnasked(session, now()))
      return { outcome: 'unconfirmed', id, generation: renewals };
    if (findAccessRefusal(session.principal, session.claims, dependencies.access()) !== undefined) {
      return { outcome: 'refused', reason: 'not_allowed', user: session.user };
    }
    const identity = prepareIdentity(
      session,
      dependencies.claimHeaders,
      dependencies.subjectPrefix,
    );
    if (identity === 'claims_overflow')
      return { outcome: 'refused', reason: 'not_allowed', user: session.user };
    const time = now();
    const entry = toEntry(session, identity, atRead.generation, time);
    if (revocationsSeen === atRead.revocations) remembered.set(value, entry, time);
    return admit(entry, value, time, isPassive);
  }

  function admit(
    entry: RememberedSession,
    value: string,
    time: number,
    isPassive: boolean,
  ): Admitted {
    const { admitted, revalidateAt, idleTimeoutMs } = entry;
    if (admitted.renewal === undefined && revalidateAt !== undefined && time >= revalidateAt)
      entry.admitted = { ...admitted, renewal: 'due' };
    if (isPassive || !isUseWorthNoting(entry, time)) return entry.admitted;
    const { id, absoluteEnd } = admitted.session;
    const used = { lastUsedAt: time, idleTimeoutMs, absoluteEnd };
    entry.lastUsedAt = time;
    entry.admitted = {
      ...entry.admitted,
      session: { ...admitted.session, endsAt: sessionEnd(used) },
    };
    // A use that cannot be noted shortens the idle time by a minute; the request itself is decided.
    sessions.noteUse(id, time).catch(onOutage);
    return {
      ...entry.admitted,
      setCookie: setSessionCookie(cookies, value, sessions.maxAgeSeconds(used)),
    };
  }
}

/** Whether what is remembered may be used unread. `readAgainAt` also bounds a clock that was set back. */
function isFresh(entry: RememberedSession, generation: number, time: number): boolean {
  return (
    entry.generation === generation &&
    time < entry.admitted.session.endsAt &&
    time < (entry.validUntil ?? Number.POSITIVE_INFINITY) &&
    isAdmittedUnasked(entry, time) &&
    time < entry.readAgainAt &&
    time >= entry.readAgainAt - READ_AGAIN_AFTER_MS
  );
}

function toEntry(
  session: Session,
  identity: Identity,
  generation: number,
  time: number,
): RememberedSession {
  return {
    identity,
    admitted: toAdmitted(session, identity),
    lastUsedAt: session.lastUsedAt,
    idleTimeoutMs: session.idleTimeoutMs,
    revalidateAt: session.revalidateAt,
    confirmedUntil: session.confirmedUntil,
    validUntil: session.validUntil,
    readAgainAt: time + READ_AGAIN_AFTER_MS,
    generation,
  };
}

function saysMore(one: Refused, other: Refused): boolean {
  return tellingOf(one) > tellingOf(other);
}

function tellingOf({ reason }: Refused): number {
  if (reason === 'not_allowed') return 3;
  return reason === 'no_credential' ? 0 : reason === 'session_unknown' ? 1 : 2;
}

function toAdmitted(session: Session, identity: Identity): RememberedSession['admitted'] {
  return {
    outcome: 'admitted',
    identity,
    session: {
      id: session.id,
      generation: session.generation,
      createdAt: session.createdAt,
      endsAt: sessionEnd(session),
      absoluteEnd: session.absoluteEnd,
      confirmedUntil: session.confirmedUntil,
    },
    setCookie: undefined,
    renewal: undefined,
  };
}

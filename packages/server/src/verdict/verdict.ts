/**
 * The answer to the one question: given these headers, at this time, who is it, and may they enter?
 *
 * @module
 */

import type { JsonValue, Principal, UserRecord } from '@sallyport/protocol';
import type { EndReason } from '../session/session-store.ts';

/** Why a caller may not enter. Stable: on the wire as `reason`, and a metric label. */
export type RefusalReason =
  | 'no_credential'
  | 'session_unknown'
  | 'session_expired'
  | EndReason
  | 'ambiguous_credentials'
  | 'bearer_not_accepted'
  | 'insufficient_scope'
  | 'cross_site'
  | 'not_allowed';

/** Why a verdict is undecided. Stable, like {@link RefusalReason}. */
export type UndecidedReason = 'store_unavailable' | 'issuer_unavailable' | 'renewal_unavailable';

/** A verified identity, with what backends receive about it. */
export interface Identity {
  readonly principal: Principal;
  readonly user: UserRecord;
  /**
   * The full set of identity headers, prepared once: each name with its value behind it, which takes a
   * third of the room that pairs take for as long as a session is remembered.
   */
  readonly headers: readonly string[];
  /** The user record as JSON, in the two spellings that existing consoles ask for. */
  readonly body: { readonly camelCase: string; readonly snakeCase: string };
  /** Claims kept for the access rules. */
  readonly claims: Readonly<Record<string, JsonValue>>;
}

/** The session behind an admission by cookie. Times in epoch milliseconds. */
export interface SessionView {
  readonly id: number;
  /** Which of its renewals this is. */
  readonly generation: number;
  readonly createdAt: number;
  /** When it ends if it is not used again. */
  readonly endsAt: number;
  readonly absoluteEnd: number;
  /** Until when the IdP has confirmed it; absent where the IdP is not asked. */
  readonly confirmedUntil?: number | undefined;
}

/** Who it is, and that they may enter. */
export interface Admitted {
  readonly outcome: 'admitted';
  readonly identity: Identity;
  /** Absent for a bearer. */
  readonly session: SessionView | undefined;
  /** A Set-Cookie value, when it is time to slide the session cookie. */
  readonly setCookie: string | undefined;
  /** `due`: the IdP should be asked about the session, in the background; it stands meanwhile. */
  readonly renewal: 'due' | undefined;
}

/**
 * The session counts, but its confirmation by the IdP has run out while it was not in use: it is admitted once
 * the IdP was asked about it, or could not be reached.
 */
export interface Unconfirmed {
  readonly outcome: 'unconfirmed';
  readonly id: number;
  readonly generation: number;
}

/** The session stands, but counts again only once the IdP was asked about it. */
export interface Overdue {
  readonly outcome: 'overdue';
  readonly id: number;
  readonly generation: number;
}

/** Known not to enter. */
export interface Refused {
  readonly outcome: 'refused';
  readonly reason: RefusalReason;
  /** The account, for `not_allowed` and `cross_site`: the person should see which one was refused. */
  readonly user?: UserRecord;
  /** The token that was refused; for the audit stream, never on the wire. */
  readonly token?: RefusedToken;
}

/** What a caller may learn about a refused bearer token. */
export interface RefusedToken {
  /** Which check it did not pass. */
  readonly problem: string;
  /** One of the configured issuers, when the token names one. */
  readonly issuer: string | undefined;
  /** Of a verified token alone. */
  readonly subject: string | undefined;
  /** The client it was issued to; of a verified token alone. */
  readonly client: string | undefined;
  /** What was found beside what is accepted. Untrusted text of a token that may not be verified. */
  readonly detail?: string | undefined;
}

/** The verdict could not be reached. Never an admission, and never a sign-out. */
export interface Undecided {
  readonly outcome: 'undecided';
  readonly reason: UndecidedReason;
  readonly retryAfterSeconds: number;
}

/** What every door asks for. */
export type Verdict = Admitted | Refused | Undecided;

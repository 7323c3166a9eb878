/**
 * What an operator is shown of a session: chosen facts, and no secret, token or claim among them.
 *
 * @module
 */

import { formatSessionId, type Session, sessionEnd } from '@sallyport/server';

/** A session as it is shown. Texts are those of the identity provider and the browser: untrusted. */
export interface SessionRow {
  /** As in the cookie before the dot, and as `revoke` takes it. */
  readonly id: string;
  /** The same number as in the log. */
  readonly session: number;
  readonly issuer: string;
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly preferredUsername: string;
  /** Epoch milliseconds, as all times here. */
  readonly createdAt: number;
  /** Exact to a minute. */
  readonly lastUsedAt: number;
  /** When it ends unless it is used again. */
  readonly endsAt: number;
  /** When it ends however much it is used. */
  readonly absoluteEnd: number;
  readonly address: string;
  /** The whole `User-Agent`. */
  readonly browser: string;
}

/** Takes of a session what may be shown. */
export function toSessionRow(session: Session): SessionRow {
  const { principal, user } = session;
  return {
    id: formatSessionId(session.id),
    session: session.id,
    issuer: principal.issuer,
    subject: principal.subject,
    email: user.email,
    name: user.name,
    preferredUsername: user.preferredUsername,
    createdAt: session.createdAt,
    lastUsedAt: session.lastUsedAt,
    endsAt: sessionEnd(session),
    absoluteEnd: session.absoluteEnd,
    address: session.address,
    browser: session.browser,
  };
}

/** The best name there is for a person: e-mail address, user name, name, subject. */
export function nameOf(
  row: Pick<SessionRow, 'email' | 'preferredUsername' | 'name' | 'subject'>,
): string {
  return row.email || row.preferredUsername || row.name || row.subject;
}

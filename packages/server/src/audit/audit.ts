/**
 * Port: the audit stream. Who did what to whom, from where and why, one line for each.
 *
 * @module
 */

import type { Principal } from '@sallyport/protocol';
import type { Log, LogFields, LogValue } from '../log/log.ts';
import type { EventsAt } from '../log/log-events.ts';
import { cutText } from '../log/log-redaction.ts';
import { formatSessionId } from '../session/session-id.ts';
import type { EndReason } from '../session/session-store.ts';

/** Where a request comes from; each `undefined` when there is no request, or it does not say. */
export interface AuditOrigin {
  /** The client's address as forwarded by the trusted proxies. */
  readonly address: string | undefined;
  /** The `User-Agent`, untrusted and perhaps cut. */
  readonly browser: string | undefined;
  /** The id that the answer to the request carries, too. */
  readonly request_id: string | undefined;
}

/** Who; `undefined` if unknown. Never what an unverified token says. */
export interface AuditPrincipal {
  readonly issuer: string | undefined;
  readonly subject: string | undefined;
}

/** What every line has. Each field has to be given, so that leaving one out is a decision. */
interface AuditFixed<Reason extends string> extends AuditOrigin, AuditPrincipal {
  /** The session's id, written as its eight characters. */
  readonly session: number | undefined;
  /** Why. */
  readonly reason: Reason;
}

type Entry<Event extends EventsAt<'audit'>, Reason extends string, Details = unknown> = {
  readonly event: Event;
} & AuditFixed<Reason> &
  Details;

/** How a session ended: read from the record, or found when it is removed. */
type SessionEndReason = EndReason | 'session_expired';

/** The events of the audit stream. Names and reasons are stable; docs/logs.md explains each. */
export type AuditEvent =
  | Entry<'sign_in_started', string, { readonly restarts: number }>
  | Entry<
      'sign_in_failed',
      string,
      {
        readonly error?: string | undefined;
        readonly check?: string | undefined;
        readonly failure?: string | undefined;
        readonly detail?: string | undefined;
      }
    >
  | Entry<'sign_in_refused', 'not_allowed' | 'session_revoked', { readonly rule?: string }>
  | Entry<'session_begun', 'signed_in'>
  | Entry<'session_renewing', 'due', { readonly generation: number }>
  | Entry<'session_renewed', 'confirmed', { readonly generation: number }>
  | Entry<
      'session_ended',
      SessionEndReason,
      {
        /** Who ended it, when that was not its own browser or the IdP. */
        readonly by?: 'account' | 'operator' | 'surplus';
        /** The session whose person ended it, by `account`. */
        readonly by_session?: number;
        /** User of the operating system, by `operator`. */
        readonly operator?: string;
        /** Who became that user with sudo. */
        readonly sudo_user?: string | undefined;
        /** The IdP's error code, for a renewal. */
        readonly error?: string | undefined;
      }
    >
  | Entry<
      'bearer_refused',
      'bearer_not_accepted' | 'insufficient_scope' | 'not_allowed',
      {
        /** Which check the token did not pass. */
        readonly problem: string;
        /** The client the token was issued to; only of a verified one. */
        readonly client: string | undefined;
        readonly door: string;
        /** What was found beside what is accepted. */
        readonly detail?: string | undefined;
      }
    >
  | Entry<
      'backchannel_logout',
      'idp_logout',
      { readonly has_sid: boolean; readonly sessions: number }
    >
  | Entry<'backchannel_logout_refused', string>
  | Entry<'configuration_loaded', 'started' | 'signal' | 'file_changed', ConfigurationDetails>
  | Entry<
      'configuration_refused',
      'signal' | 'file_changed',
      ConfigurationDetails & { readonly problem: string }
    >
  | Entry<'secret_loaded', 'file_changed', { readonly key: string }>
  | Entry<'key_ring_loaded', 'first_use' | 'file_changed' | 'key_ended'>
  | Entry<
      'events_suppressed',
      'flood',
      { readonly suppressed_event: string; readonly suppressed: number }
    >
  | Entry<'audit_resumed', 'write_failed', { readonly elsewhere: number }>;

interface ConfigurationDetails {
  /** The file it was read from; absent when there is none. */
  readonly file?: string | undefined;
  /**
   * Keys whose value is another one than before, never a value; `null` if unknown, absent when there
   * was none before.
   */
  readonly changed?: readonly string[] | null | undefined;
}

/** Takes what happened. Synchronous, does not wait for a file, never throws. */
export type Audit = (event: AuditEvent) => void;

/** The origin of what no request caused. */
export const NO_REQUEST: AuditOrigin = {
  address: undefined,
  browser: undefined,
  request_id: undefined,
};

/** An unknown actor. */
export const NO_PRINCIPAL: AuditPrincipal = { issuer: undefined, subject: undefined };

/** A verified actor. */
export function auditPrincipal({ issuer, subject }: Principal): AuditPrincipal {
  return { issuer, subject };
}

/** Fields in which something from outside could be of any length. */
const TEXT_MAX_LENGTH = 512;

/**
 * The fields of an event's line. The fixed ones stand first and are always there, `null` where
 * unknown, so that a reader finds the same columns in every line.
 */
function toAuditFields(event: AuditEvent): LogFields {
  const {
    event: _,
    issuer,
    subject,
    session,
    address,
    browser,
    reason,
    request_id,
    ...more
  } = event;
  const details: Record<string, LogValue> = more;
  if (event.event === 'session_ended' && event.by_session !== undefined)
    details['by_session'] = formatSessionId(event.by_session);
  for (const [name, value] of Object.entries(details))
    if (typeof value === 'string') details[name] = cut(value);
    else if (typeof value === 'object') details[name] = value?.map(cut) ?? null;
  return {
    issuer: known(issuer),
    subject: known(subject),
    session: session === undefined ? null : formatSessionId(session),
    address: known(address),
    browser: known(browser),
    reason: cut(reason),
    request_id: known(request_id),
    ...details,
  };
}

function known(text: string | undefined): string | null {
  return text === undefined || text === '' ? null : cut(text);
}

function cut(text: string): string {
  return cutText(text, TEXT_MAX_LENGTH);
}

/**
 * Creates the port over a log, the only writer of audit lines: a counter of them, or a source to add, wraps the
 * log.
 */
export function createAudit(log: Log): Audit {
  return (event) => log('audit', event.event, toAuditFields(event));
}

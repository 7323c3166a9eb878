/**
 * Writes an audit event for every bearer token that a door refused.
 *
 * @module
 */

import type { Audit } from '../audit/audit.ts';
import type { ReadOrigin } from '../audit/audit-origin.ts';
import type { VerdictObserver } from './verdict-observer.ts';

/**
 * Creates the observer. Claims about its holder are written only if the token was verified, and
 * refused for what its holder may not do.
 */
export function auditBearers(audit: Audit, originOf: ReadOrigin): VerdictObserver {
  return (door, verdict, request) => {
    if (verdict.outcome !== 'refused' || verdict.token === undefined) return;
    const { reason } = verdict;
    if (
      reason !== 'bearer_not_accepted' &&
      reason !== 'insufficient_scope' &&
      reason !== 'not_allowed'
    )
      return;
    const { issuer, subject, client, problem, detail } = verdict.token;
    audit({
      event: 'bearer_refused',
      issuer,
      subject,
      session: undefined,
      ...originOf(request),
      reason,
      problem,
      client,
      door,
      detail,
    });
  };
}

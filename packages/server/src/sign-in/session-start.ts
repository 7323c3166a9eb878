/**
 * The last step of a sign-in: the tokens of the IdP become a session.
 *
 * @module
 */

import { type AuditPrincipal, auditPrincipal } from '../audit/audit.ts';
import { auditOrigin } from '../audit/audit-origin.ts';
import type { ExchangedTokens } from '../issuer/relying-party/relying-party.ts';
import { readSessionValues, setSessionCookie } from '../session/session-cookie.ts';
import { findAccessRefusal, selectAccessClaims } from '../verdict/access.ts';
import { prepareIdentity } from '../verdict/identity.ts';
import { toUserPrincipal, toUserRecord } from '../verdict/user-record.ts';
import type { Attempt } from './attempt.ts';
import { retryUrl } from './login.ts';
import { createEmailNote } from './missing-email.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import { redirectTo, type SignInRequest, showFailure } from './sign-in-request.ts';

/** Begins the session of a verified exchange, and sends the browser to its target. */
type SessionStart = (
  request: SignInRequest,
  exchanged: ExchangedTokens,
  attempt: Attempt,
  target: string,
) => Promise<Response>;

interface SessionEnding {
  readonly reason: 'session_replaced' | 'session_revoked';
  readonly by?: 'surplus';
}

/**
 * Creates the step. The access rules are asked before there is a session, so that a refusal leaves nothing behind.
 *
 * Verifies nothing of the exchange: the relying party has.
 */
export function createSessionStart(dependencies: SignInDependencies): SessionStart {
  const { attempts, sessions, cookies, audit, relyingParty } = dependencies;
  const noteEmail = createEmailNote(dependencies.log);

  return async function beginSession(
    request: SignInRequest,
    { tokens, claims, accessTokenLifeMs }: ExchangedTokens,
    attempt: Attempt,
    target: string,
  ): Promise<Response> {
    const rules = dependencies.access();
    const principal = toUserPrincipal(claims);
    const user = toUserRecord(claims, dependencies.claimHeaders, rules.emailTrusted);
    noteEmail(claims, user.email, relyingParty.scopes);
    const accessClaims = selectAccessClaims(claims, rules);
    const refusal =
      findAccessRefusal(principal, accessClaims, rules) ??
      (prepareIdentity({ principal, user, claims: accessClaims }, dependencies.claimHeaders) ===
      'claims_overflow'
        ? 'claims_overflow'
        : undefined);
    const setCookies = [attempts.clear(attempt.slot)];
    const who = auditPrincipal(principal);
    const origin = auditOrigin(request);
    const { requestId } = request;
    if (refusal !== undefined) {
      audit({
        event: 'sign_in_refused',
        ...who,
        session: undefined,
        ...origin,
        reason: 'not_allowed',
        rule: refusal,
      });
      const account = user.email || user.preferredUsername || user.subject;
      const retry = `${retryUrl(target)}&prompt=select_account`;
      return showFailure('not_allowed', { requestId, account, retryUrl: retry }, { setCookies });
    }
    const shown = readSessionValues(request.headers.cookie, cookies.sessionName);
    if (await sessions.hasBegunSince(shown, principal, attempt.startedAt)) {
      // Another tab was faster: ending its session now would fail whatever it is loading. These tokens lapse;
      // giving them back would end the grant that both share at most identity providers.
      return redirectTo(target, setCookies);
    }
    const begun = await sessions.begin(
      {
        principal,
        user,
        claims: accessClaims,
        sid: typeof claims['sid'] === 'string' ? claims['sid'] : undefined,
        tokens,
        accessTokenLifeMs,
        signInAt: attempt.startedAt,
        address: request.address,
        browser: request.headers['user-agent'] ?? '',
      },
      shown,
    );
    const noteEnded = (session: number, whose: AuditPrincipal, why: SessionEnding) =>
      audit({ event: 'session_ended', ...whose, session, ...origin, ...why });
    if (begun.replaced !== undefined) {
      const { id, principal: former } = begun.replaced;
      noteEnded(id, auditPrincipal(former), { reason: 'session_replaced' });
    }
    for (const session of begun.surplus)
      noteEnded(session, who, { reason: 'session_revoked', by: 'surplus' });
    if (begun.isRevoked) {
      // Going on would lead straight back to the IdP, and round again for as long as the revocation reaches.
      audit({
        event: 'sign_in_refused',
        ...who,
        session: undefined,
        ...origin,
        reason: 'session_revoked',
      });
      return showFailure(
        'sign_in_revoked',
        { requestId, retryUrl: retryUrl(target) },
        { setCookies },
      );
    }
    audit({
      event: 'session_begun',
      ...who,
      session: begun.session.id,
      ...origin,
      reason: 'signed_in',
    });
    return redirectTo(target, [
      setSessionCookie(cookies, begun.cookieValue, begun.maxAgeSeconds),
      ...setCookies,
    ]);
  };
}

/**
 * From a verified token to a verdict: scopes, access rules, identity.
 *
 * @module
 */

import type { Principal } from '@sallyport/protocol';
import { readClientId, readScopes } from '../issuer/jwt/claim-readers.ts';
import type { JsonObject } from '../issuer/jwt/strict-json.ts';
import { type AccessRules, findAccessRefusal, selectAccessClaims } from '../verdict/access.ts';
import { prepareIdentity } from '../verdict/identity.ts';
import { toUserRecord } from '../verdict/user-record.ts';
import type { Refused, RefusedToken, Verdict } from '../verdict/verdict.ts';
import { isOfApplication, readSubject } from './access-token.ts';
import type { IssuerSettings } from './bearer-settings.ts';

/** What a verdict on a verified token depends on. */
export interface BearerPolicy {
  readonly requiredScopes: readonly string[];
  /** Read at each decision, so that a reload takes effect with the generation's bump. */
  readonly access: () => AccessRules;
  readonly claimHeaders: readonly string[];
}

/**
 * Decides whether the holder of a verified token may enter.
 *
 * @param claims - Verified claims of an access token for us.
 *
 * @see [RFC 6750 section 3.1](https://www.rfc-editor.org/rfc/rfc6750#section-3.1) a token without the scope is 403: signing in again would not help
 */
export function decideVerified(
  claims: JsonObject,
  settings: IssuerSettings,
  { requiredScopes, access, claimHeaders }: BearerPolicy,
): Verdict {
  const scopes = readScopes(claims, settings.scopeClaims);
  const subject = readSubject(claims, settings);
  const clientId = readClientId(claims, settings.clientIdClaims);
  const token = (problem: string): RefusedToken => ({
    problem,
    issuer: settings.issuer,
    subject,
    client: clientId,
  });
  if (!requiredScopes.every((scope) => scopes.has(scope)))
    return { outcome: 'refused', reason: 'insufficient_scope', token: token('scope') };
  if (subject === undefined)
    return { outcome: 'refused', reason: 'bearer_not_accepted', token: token('subject') };
  const principal: Principal = {
    issuer: settings.issuer,
    subject,
    kind: isOfApplication(claims, settings) ? 'app' : 'user',
  };
  const { emailTrusted } = settings;
  const rules = { ...access(), emailTrusted };
  const user = { ...toUserRecord(claims, claimHeaders, emailTrusted), subject };
  const notAllowed = (problem: string): Refused => ({
    outcome: 'refused',
    reason: 'not_allowed',
    user,
    token: token(problem),
  });
  const refusal = findAccessRefusal(principal, claims, rules, clientId);
  if (refusal !== undefined) return notAllowed(refusal);
  const parts = { principal, user, claims: selectAccessClaims(claims, rules) };
  const identity = prepareIdentity(parts, claimHeaders, settings.subjectPrefix);
  if (identity === 'claims_overflow') return notAllowed(identity);
  return {
    outcome: 'admitted',
    identity,
    session: undefined,
    setCookie: undefined,
    renewal: undefined,
  };
}

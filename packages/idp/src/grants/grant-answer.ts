/**
 * What an identity provider's answer to one try of a grant says about a client: decided on status and error code, never
 * on texts, which differ between providers and releases.
 *
 * @module
 */

import {
  classifyIdpRefusal,
  type IdpAnswer,
  type IdpRefusalCause,
  type IdpRefusalProbes,
} from '@sallyport/protocol';

/** Ways to get a token that a client can be tried with. */
export type TriedGrant =
  | 'authorization_code'
  | 'client_credentials'
  | 'urn:ietf:params:oauth:grant-type:device_code'
  | 'password'
  | 'implicit';

/**
 * `permitted`: the client may use the grant. `refused`: it may not. `client_refused`: the provider does not know the
 * client or its secret. `scope_refused`, `policy_refused`, `request_refused`: the grant is on, and the scope, an access
 * policy, or a parameter (PKCE, audience) stands against it. `undecided`: the answer says nothing about the client.
 */
export type GrantOutcome =
  | 'permitted'
  | 'refused'
  | 'client_refused'
  | 'scope_refused'
  | 'policy_refused'
  | 'request_refused'
  | 'undecided';

/** Whether a provider accepted who a client is, found by {@link classifyAuthentication}. */
export type ClientAuthentication = 'accepted' | 'refused' | 'undecided';

const UNAUTHORIZED = 401;
const TOO_MANY = 429;
const SERVER_ERRORS = 500;
const REFUSALS = 400;

/** Answers of the authorization endpoint to `prompt=none` that only a client of the grant gets. */
const WITHOUT_PERSON: readonly string[] = [
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
];

/** What each cause says about the grant. */
const OUTCOME_OF: Readonly<Record<IdpRefusalCause, GrantOutcome>> = {
  grant_not_allowed: 'refused',
  grant_not_supported: 'refused',
  client_is_public: 'refused',
  client_or_secret_wrong: 'client_refused',
  client_unknown: 'client_refused',
  secret_wrong: 'client_refused',
  scope_unknown: 'scope_refused',
  not_in_access_policy: 'policy_refused',
  // Entra says `invalid_grant` to an application that is switched off.
  dead_grant: 'policy_refused',
  audience_unknown: 'request_refused',
  offline_access_not_allowed: 'request_refused',
  request_refused: 'request_refused',
  rate_limited: 'undecided',
  idp_fails: 'undecided',
};

/**
 * Says what an answer means.
 *
 * A 401 alone does not decide: Keycloak answers `unauthorized_client` with 401 to a wrong secret, to a service that may
 * not use `client_credentials` and to a public client that asks for it. The probes decide between them.
 *
 * @param isSuccess - Whether the answer holds what the grant gives: a token, a device code, or an authorization code.
 * @see RFC 6749 sections 4.1.2.1 and 5.2, RFC 8628 section 3.2, OpenID Connect Core 1.0 section 3.1.2.6
 */
export function classifyGrantAnswer(
  grant: TriedGrant,
  answer: IdpAnswer,
  isSuccess: boolean,
  probes: IdpRefusalProbes = {},
): GrantOutcome {
  const { status, error } = answer;
  if (isSuccess) return 'permitted';
  if (grant === 'authorization_code' || grant === 'implicit') {
    if (WITHOUT_PERSON.includes(error)) return 'permitted';
    if (error === 'unsupported_response_type') return 'refused';
    if (error !== '') return OUTCOME_OF[classifyIdpRefusal({ status: REFUSALS, error })];
    // RFC 6749 section 4.1.2.1: no redirect where client or redirect URI are not registered for it.
    return status >= REFUSALS && status < SERVER_ERRORS && status !== TOO_MANY
      ? 'refused'
      : 'undecided';
  }
  if (status < REFUSALS || (error === '' && status !== UNAUTHORIZED)) return 'undecided';
  // A made-up person: only a client that may use the grant learns that the password is wrong. Keycloak says so with 401.
  if (grant === 'password' && error === 'invalid_grant') return 'permitted';
  return OUTCOME_OF[classifyIdpRefusal(answer, probes)];
}

/**
 * Says whether a client is known with its secret, from its try to refresh with a made-up token.
 *
 * The refusal itself differs: `invalid_grant`, or that the client has no such grant, in several words. That it is not the
 * answer to a client that cannot exist is what counts. Entra answers that one 400, which elsewhere means a known one.
 *
 * @param ofUnknown - Answer to the same request by a client that cannot exist.
 */
export function classifyAuthentication(
  answer: IdpAnswer,
  ofUnknown: IdpAnswer,
): ClientAuthentication {
  if (answer.status === UNAUTHORIZED) return 'refused';
  const isAnswered = [answer, ofUnknown].every(
    ({ status, error }) => error !== '' && status !== TOO_MANY && status < SERVER_ERRORS,
  );
  const isSame = answer.status === ofUnknown.status && answer.error === ofUnknown.error;
  return isAnswered && !isSame ? 'accepted' : 'undecided';
}

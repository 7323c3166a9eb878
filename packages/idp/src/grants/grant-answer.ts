/**
 * What an identity provider's answer to one try of a grant says about a client: decided on status and error code, never
 * on texts, which differ between providers and releases.
 *
 * @module
 */

/** Ways to get a token that a client can be tried with. */
export type TriedGrant =
  | 'authorization_code'
  | 'client_credentials'
  | 'urn:ietf:params:oauth:grant-type:device_code'
  | 'password'
  | 'implicit';

/** Status and OAuth error code of an answer; `error` is empty where there is none. */
export interface GrantAnswer {
  readonly status: number;
  /** Code of RFC 6749 section 5.2 or 4.1.2.1, or a provider's own; untrusted. */
  readonly error: string;
}

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

/** Errors that mean the same for every grant. */
const COMMON: Readonly<Record<string, GrantOutcome>> = {
  unauthorized_client: 'refused',
  unsupported_grant_type: 'refused',
  unsupported_response_type: 'refused',
  invalid_client: 'client_refused',
  invalid_scope: 'scope_refused',
  access_denied: 'policy_refused',
  invalid_request: 'request_refused',
  invalid_target: 'request_refused',
};

/** Answers of the authorization endpoint to `prompt=none` that only a client of the grant gets. */
const WITHOUT_PERSON: readonly string[] = [
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
];

/**
 * Says what an answer means.
 *
 * A 401 alone does not decide: Keycloak answers `unauthorized_client` with 401 to a wrong secret, to a service that may
 * not use `client_credentials` and to a public client that asks for it. `authentication` decides between them.
 *
 * @param isSuccess - Whether the answer holds what the grant gives: a token, a device code, or an authorization code.
 * @param authentication - Of the same client, by a grant that does not depend on this one.
 * @see reference of error codes: RFC 6749 sections 4.1.2.1 and 5.2, RFC 8628 section 3.2, OpenID Connect Core 3.1.2.6
 */
export function classifyGrantAnswer(
  grant: TriedGrant,
  { status, error }: GrantAnswer,
  isSuccess: boolean,
  authentication: ClientAuthentication = 'undecided',
): GrantOutcome {
  if (isSuccess) return 'permitted';
  if (status === TOO_MANY || status >= SERVER_ERRORS) return 'undecided';
  if (grant === 'authorization_code' || grant === 'implicit') {
    if (WITHOUT_PERSON.includes(error)) return 'permitted';
    // RFC 6749 section 4.1.2.1: no redirect where client or redirect URI are not registered for it.
    if (error === '') return status >= 400 ? 'refused' : 'undecided';
    return COMMON[error] ?? 'undecided';
  }
  // A made-up person: only a client that may use the grant learns that the password is wrong. Keycloak says so with 401.
  if (grant === 'password' && error === 'invalid_grant') return 'permitted';
  if (status === UNAUTHORIZED) return ON_401[authentication];
  if (grant === 'client_credentials' && error === 'invalid_grant') return 'policy_refused';
  return COMMON[error] ?? 'undecided';
}

const ON_401: Readonly<Record<ClientAuthentication, GrantOutcome>> = {
  accepted: 'refused',
  refused: 'client_refused',
  undecided: 'undecided',
};

/**
 * Says whether a client is known with its secret, from its try to refresh with a made-up token.
 *
 * The refusal itself differs: `invalid_grant`, or that the client has no such grant, in several words. That it is not the
 * answer to a client that cannot exist is what counts. Entra answers that one 400, which elsewhere means a known one.
 *
 * @param ofUnknown - Answer to the same request by a client that cannot exist.
 */
export function classifyAuthentication(
  answer: GrantAnswer,
  ofUnknown: GrantAnswer,
): ClientAuthentication {
  if (answer.status === UNAUTHORIZED) return 'refused';
  const isAnswered = [answer, ofUnknown].every(
    ({ status, error }) => error !== '' && status !== TOO_MANY && status < SERVER_ERRORS,
  );
  const isSame = answer.status === ofUnknown.status && answer.error === ofUnknown.error;
  return isAnswered && !isSame ? 'accepted' : 'undecided';
}

/**
 * Says which of the two is wrong where a client is refused: RFC 6749 has one error for both.
 *
 * @param answer - To the client with its secret, as of {@link classifyAuthentication}.
 * @returns `undecided` where the provider answers both alike.
 */
export function findWrongCredential(
  answer: GrantAnswer,
  ofUnknown: GrantAnswer,
): 'client_secret' | 'undecided' {
  const isSame = answer.status === ofUnknown.status && answer.error === ofUnknown.error;
  return answer.status === UNAUTHORIZED && !isSame && ofUnknown.error !== ''
    ? 'client_secret'
    : 'undecided';
}

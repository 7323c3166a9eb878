/**
 * Why an identity provider refused an application, from what it answered and never from its words.
 *
 * Providers give one cause different codes: a wrong secret is `invalid_client` at most of them and
 * `unauthorized_client` at Keycloak, which answers the same where the grant is not allowed. What the code leaves open
 * is decided by further requests, whose answers are compared with each other.
 *
 * @module
 */

/** An answer of a token endpoint: its status and its OAuth error code, empty when it has none. */
export interface IdpAnswer {
  readonly status: number;
  readonly error: string;
}

/**
 * Answers to requests that differ from the refused one in a single respect. Each is optional: what was not asked
 * leaves a cause less exact.
 */
export interface IdpRefusalProbes {
  /** The same client and secret, for the grant `refresh_token` with a token that is made up. */
  readonly otherGrant?: IdpAnswer;
  /** As `otherGrant`, with a secret that is made up as well. */
  readonly otherGrantMadeUpSecret?: IdpAnswer;
  /** The refused request, of a client id that is made up, with a secret that is. */
  readonly madeUpClient?: IdpAnswer;
  /**
   * The same client and secret with `grant_type` alone, of a grant that needs no other parameter
   * (`client_credentials`).
   */
  readonly grantAlone?: IdpAnswer;
  /** The refused request, of another client that is known to exist, with a secret that is made up. */
  readonly knownClientMadeUpSecret?: IdpAnswer;
}

/** The causes. `client_or_secret_wrong`: the provider answers both alike. */
export type IdpRefusalCause =
  | 'audience_unknown'
  | 'client_is_public'
  | 'client_or_secret_wrong'
  | 'dead_grant'
  | 'grant_not_allowed'
  | 'grant_not_supported'
  | 'idp_fails'
  | 'not_in_access_policy'
  | 'offline_access_not_allowed'
  | 'rate_limited'
  | 'request_refused'
  | 'scope_unknown'
  | 'secret_wrong'
  | 'client_unknown';

const UNAUTHENTICATED = 401;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/** Codes that mean one thing everywhere. `not_allowed` is Keycloak's own. */
const PLAIN: ReadonlyMap<string, IdpRefusalCause> = new Map([
  ['access_denied', 'not_in_access_policy'],
  ['invalid_grant', 'dead_grant'],
  ['invalid_scope', 'scope_unknown'],
  ['invalid_target', 'audience_unknown'],
  ['not_allowed', 'offline_access_not_allowed'],
  ['server_error', 'idp_fails'],
  ['temporarily_unavailable', 'idp_fails'],
  ['unsupported_grant_type', 'grant_not_supported'],
]);

/**
 * Decides the cause of a refusal by a token or device authorization endpoint.
 *
 * Whether the client proved itself shows in `otherGrant`: an answer that differs from the one to a made-up secret says
 * that the secret is right, and then `unauthorized_client` is about the grant. Does not look at
 * `error_description`: providers change it, and say there what an attacker has sent.
 *
 * @param refusal - An answer that is no success.
 *
 * @see [RFC 6749 section 5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2)
 */
export function classifyIdpRefusal(
  refusal: IdpAnswer,
  probes: IdpRefusalProbes = {},
): IdpRefusalCause {
  const { status, error } = refusal;
  if (status === TOO_MANY_REQUESTS) return 'rate_limited';
  if (status >= SERVER_ERROR) return 'idp_fails';
  const plain = PLAIN.get(error);
  if (plain !== undefined) return plain;
  const { otherGrant, otherGrantMadeUpSecret, grantAlone } = probes;
  if (!isAboutClient(refusal)) {
    const isProven =
      otherGrant?.error === 'invalid_grant' &&
      otherGrantMadeUpSecret !== undefined &&
      !isSame(otherGrant, otherGrantMadeUpSecret);
    // Nothing of the request is left to be wrong but the grant: oidc-provider says `invalid_request` to it.
    const isGrant = error === 'invalid_request' && grantAlone?.error === 'invalid_request';
    return isProven && isGrant ? 'grant_not_allowed' : 'request_refused';
  }
  if (otherGrant !== undefined && otherGrantMadeUpSecret !== undefined) {
    if (!isSame(otherGrant, otherGrantMadeUpSecret)) return 'grant_not_allowed';
    // A secret that makes no difference, and a client that is served all the same.
    if (!isAboutClient(otherGrant)) return 'client_is_public';
    return findWrongHalf(refusal, probes);
  }
  const isAmbiguous = error === 'invalid_client' || status === UNAUTHENTICATED;
  return isAmbiguous ? findWrongHalf(refusal, probes) : 'grant_not_allowed';
}

/** Whether the answer is about who asks, or whether that one may. */
function isAboutClient({ status, error }: IdpAnswer): boolean {
  return (
    status === UNAUTHENTICATED || error === 'invalid_client' || error === 'unauthorized_client'
  );
}

/** Client or secret: only a provider that answers the two differently shows which. */
function findWrongHalf(
  refusal: IdpAnswer,
  { madeUpClient, knownClientMadeUpSecret }: IdpRefusalProbes,
): IdpRefusalCause {
  if (madeUpClient === undefined) return 'client_or_secret_wrong';
  if (!isSame(refusal, madeUpClient)) return 'secret_wrong';
  const isDistinguished =
    knownClientMadeUpSecret !== undefined && !isSame(madeUpClient, knownClientMadeUpSecret);
  return isDistinguished ? 'client_unknown' : 'client_or_secret_wrong';
}

function isSame(one: IdpAnswer, other: IdpAnswer): boolean {
  return one.status === other.status && one.error === other.error;
}

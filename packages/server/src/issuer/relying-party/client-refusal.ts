/**
 * Why the IdP and this client do not agree, as one line for the operator: what differs, both values, and where to
 * correct it.
 *
 * @module
 */

import { CLOCK_TOLERANCE_SECONDS } from '../jwt/claim-readers.ts';
import { describeIssuers, showFound } from '../metadata/issuer-difference.ts';
import type { ExchangeRefusal } from './relying-party.ts';

/** The web app as this service is configured. */
export interface RegisteredClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** What it proves itself by and where that comes from, such as `the secret in FILE (SETTING)`. No secret. */
  readonly proof: string;
}

/** An OAuth error as it came. */
type IdpRefusal = Extract<ExchangeRefusal, { readonly reason: 'idp_refused' }>;

/**
 * Errors that say that the client is registered differently than it is configured, whatever the person does.
 *
 * @see [RFC 6749 sections 4.1.2.1 and 5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2)
 * @see [OIDC Core 1.0 section 3.1.2.6](https://openid.net/specs/openid-connect-core-1_0.html#AuthError)
 */
const CLIENT_ERRORS: ReadonlySet<string> = new Set([
  'invalid_client',
  'invalid_redirect_uri',
  'invalid_request',
  'invalid_request_object',
  'invalid_request_uri',
  'invalid_scope',
  'invalid_target',
  'registration_not_supported',
  'request_not_supported',
  'request_uri_not_supported',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
]);
const UNAUTHORIZED = 401;

/**
 * Names the cause, decided on error and status, never on texts.
 *
 * @returns `misconfigured` where the client is at fault and not the person; else the refusal. Each with the line for the
 *   operator.
 */
export function nameClientCause(refusal: IdpRefusal, client: RegisteredClient): ExchangeRefusal {
  const { code, description } = refusal;
  if (!CLIENT_ERRORS.has(code)) return { ...refusal, detail: explainRefusal(code, client) };
  return {
    reason: 'misconfigured',
    error: { code, description },
    detail: explainError(refusal, client),
  };
}

/** What else than the settings of the client an error may be about; `undefined` for what says it by itself. */
function explainRefusal(
  code: string,
  { issuer, redirectUri }: RegisteredClient,
): string | undefined {
  switch (code) {
    case 'access_denied':
      return `the person cancelled at ${issuer}, or a policy there does not admit the person or this client`;
    case 'invalid_grant':
      return `${issuer} does not take the code: it was used before, is too old, or was given for another redirect address than ${redirectUri}`;
    default:
      return undefined;
  }
}

function explainError({ code, status }: IdpRefusal, client: RegisteredClient): string {
  const { issuer, clientId, redirectUri, scopes, proof } = client;
  const named = `client ${clientId}`;
  // Keycloak answers a wrong secret with 401 and unauthorized_client.
  const isProofRefused =
    code === 'invalid_client' || (code === 'unauthorized_client' && status === UNAUTHORIZED);
  if (isProofRefused)
    return `${issuer} does not accept ${named} with ${proof}: compare both with the client that is registered there`;
  switch (code) {
    case 'unauthorized_client':
    case 'unsupported_grant_type':
    case 'unsupported_response_type':
      return `${issuer} does not allow ${named} this grant: allow authorization_code and refresh_token for it there`;
    case 'invalid_scope':
      return `${issuer} does not give ${named} one of the scopes ${scopes.join(' ')}: allow them for it there, or change auth.userAuth.openId.scopes`;
    default:
      return `${issuer} does not accept the request of ${named} with the redirect address ${redirectUri}: register exactly this address there, and compare what else it requires of the client`;
  }
}

/**
 * Explains a claim of an id_token that did not pass its check.
 *
 * @param claims - Of the id_token. Untrusted.
 * @param nowSeconds - Seconds since the epoch.
 *
 * @returns One line with both values; `undefined` for a claim about which nothing can be said.
 */
export function explainClaim(
  claim: string,
  claims: Readonly<Record<string, unknown>>,
  { issuer, clientId }: Pick<RegisteredClient, 'issuer' | 'clientId'>,
  nowSeconds: number,
): string | undefined {
  const found = claims[claim];
  const host = URL.parse(issuer)?.host ?? issuer;
  switch (claim) {
    case 'aud':
    case 'azp':
      return `the id_token is for ${showFound(found)} (${claim}), expected ${clientId}: compare auth.userAuth.openId.clientId (OIDC_CLIENT_ID) with the client at ${issuer}`;
    case 'iss':
      return `issuer of the id_token: ${describeIssuers(issuer, found)}`;
    case 'iat':
    case 'nbf':
      return typeof found === 'number'
        ? `the clock of ${host} is ${Math.round(found - nowSeconds)} s ahead of this host's, ${CLOCK_TOLERANCE_SECONDS} s are tolerated: synchronize both clocks`
        : undefined;
    case 'exp':
      return typeof found === 'number'
        ? `the id_token of ${host} ended ${Math.round(nowSeconds - found)} s ago by this host's clock: compare both clocks, and the life of id_tokens there`
        : undefined;
    default:
      return undefined;
  }
}

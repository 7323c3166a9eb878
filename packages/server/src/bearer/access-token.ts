/**
 * What makes claims those of an access token for us (RFC 9068, RFC 8725).
 *
 * @module
 */

import { listAudienceSpellings } from '@sallyport/config';
import {
  CLOCK_TOLERANCE_SECONDS,
  readAudiences,
  readClientId,
  readTime,
} from '../issuer/jwt/claim-readers.ts';
import type { JsonObject } from '../issuer/jwt/strict-json.ts';
import type { BearerSettings, IssuerSettings } from './bearer-settings.ts';

/** The first check that claims do not pass. For the log; the wire only says `bearer_not_accepted`. */
export type ClaimsProblem =
  | 'iss'
  | 'aud'
  | 'exp'
  | 'nbf'
  | 'iat'
  | 'sub'
  | 'client'
  | 'not_an_access_token'
  | 'bound_to_a_key';

/** How an issuer's claims are judged; made once. */
export interface ClaimsPolicy {
  readonly settings: IssuerSettings;
  /** Every spelling that is accepted. */
  readonly audiences: ReadonlySet<string>;
  readonly sessionClientIds: ReadonlySet<string>;
}

const SUBJECT = /^[\x20-\x7e]{1,255}$/;
/** Header types of access tokens: none, the general one, and RFC 9068's. Every other has another use. */
const ACCESS_TOKEN_TYPES: ReadonlySet<string> = new Set(['', 'jwt', 'at+jwt']);
/** Claims that only an id_token has (OpenID Connect Core 1.0 sections 2 and 3.3.2.11). */
const ID_TOKEN_CLAIMS: readonly string[] = ['nonce', 'at_hash', 'c_hash', 's_hash'];
/** Claims that name a client: RFC 9068, OpenID Connect, Okta, Entra. */
const CLIENT_ID_CLAIMS: readonly string[] = ['client_id', 'azp', 'cid', 'appid'];
/** What Keycloak writes into the claim `typ` of tokens that are no access tokens. */
const OTHER_TOKEN_TYPES: ReadonlySet<string> = new Set(['id', 'logout', 'offline', 'refresh']);

/**
 * Makes the policy. An audience is accepted in the spellings of `listAudienceSpellings`; an interactive
 * client's id is never one, whatever is configured.
 */
export function createClaimsPolicy(settings: IssuerSettings, bearer: BearerSettings): ClaimsPolicy {
  return {
    settings,
    audiences: new Set(
      settings.audiences
        .flatMap(listAudienceSpellings)
        .filter((audience) => !bearer.interactiveClientIds.includes(audience)),
    ),
    sessionClientIds: new Set(bearer.sessionClientIds),
  };
}

/**
 * Finds the first reason why claims are not those of an access token that may be shown here now.
 *
 * Signature and scopes are checked elsewhere. `exp` is required. A token that is bound to a key
 * (`cnf`) is refused, because the proof of that key is not looked at.
 *
 * @param nowSeconds - Seconds since the epoch.
 *
 * @see [RFC 9068 section 4](https://www.rfc-editor.org/rfc/rfc9068#section-4) validating JWT access tokens
 * @see [RFC 8725 section 3.11](https://www.rfc-editor.org/rfc/rfc8725#section-3.11) explicit typing
 */
export function findClaimsProblem(
  claims: JsonObject,
  { settings, audiences, sessionClientIds }: ClaimsPolicy,
  nowSeconds: number,
): ClaimsProblem | undefined {
  if (claims['iss'] !== settings.issuer) return 'iss';
  const time = findTimeProblem(claims, nowSeconds);
  if (time !== undefined) return time;
  if (!isForUs(claims, audiences)) return 'aud';
  if (readSubject(claims, settings) === undefined) return 'sub';
  if (isOfClient(claims, settings, sessionClientIds)) return 'client';
  return Object.hasOwn(claims, 'cnf') ? 'bound_to_a_key' : undefined;
}

/**
 * Whether a JWT is something other than an access token: an id_token, a logout token, a security
 * event, an assertion. What says of itself that it is an access token may have an id_token's claims.
 *
 * @param type - The header's `typ`, in lower case and without `application/`.
 */
export function isOtherToken(type: string, claims: JsonObject): boolean {
  if (!ACCESS_TOKEN_TYPES.has(type)) return true;
  const { typ: claimedType, token_use: use } = claims;
  const kind = typeof claimedType === 'string' ? claimedType.toLowerCase() : '';
  if (OTHER_TOKEN_TYPES.has(kind) || Object.hasOwn(claims, 'events')) return true;
  if (use !== undefined && use !== 'access') return true;
  const isDeclared = type === 'at+jwt' || kind === 'bearer' || use === 'access';
  return !isDeclared && ID_TOKEN_CLAIMS.some((name) => Object.hasOwn(claims, name));
}

/** The subject: 1 to 255 printable ASCII characters (OpenID Connect Core 1.0 section 2). */
export function readSubject(claims: JsonObject, settings: IssuerSettings): string | undefined {
  const subject = claims[settings.subjectClaim];
  return typeof subject === 'string' && SUBJECT.test(subject) ? subject : undefined;
}

/**
 * Whether a token is an application's own: no person stands behind it. RFC 9068 section 2.2 makes the
 * client the subject; Keycloak has an account for it (`service-account-<client>`), Entra says `idtyp`
 * or has the object itself as subject and no delegated scope, Auth0 says `gty`.
 */
export function isOfApplication(claims: JsonObject, settings: IssuerSettings): boolean {
  const client = readClientId(claims, settings.clientIdClaims);
  const { sub, oid, scp, idtyp, gty, preferred_username: account } = claims;
  return (
    (client !== undefined && sub === client) ||
    (client !== undefined && account === `service-account-${client.toLowerCase()}`) ||
    idtyp === 'app' ||
    (typeof oid === 'string' && oid === sub && scp === undefined) ||
    gty === 'client-credentials'
  );
}

/** Looks at every claim that names a client anywhere, whichever of them is configured to count. */
function isOfClient(
  claims: JsonObject,
  settings: IssuerSettings,
  clientIds: ReadonlySet<string>,
): boolean {
  const isOne = (name: string) => {
    const client = claims[name];
    return typeof client === 'string' && clientIds.has(client);
  };
  return CLIENT_ID_CLAIMS.some(isOne) || settings.clientIdClaims.some(isOne);
}

function findTimeProblem(claims: JsonObject, nowSeconds: number): ClaimsProblem | undefined {
  const { exp, nbf, iat } = claims;
  const end = readTime(exp);
  if (end === undefined || end + CLOCK_TOLERANCE_SECONDS <= nowSeconds) return 'exp';
  if (nbf !== undefined && !isPast(readTime(nbf), nowSeconds)) return 'nbf';
  return iat !== undefined && !isPast(readTime(iat), nowSeconds) ? 'iat' : undefined;
}

function isPast(time: number | undefined, nowSeconds: number): boolean {
  return time !== undefined && time - CLOCK_TOLERANCE_SECONDS <= nowSeconds;
}

/** Character by character (RFC 7519 section 2, StringOrURI): a token's spelling is never brought into another. */
function isForUs(claims: JsonObject, accepted: ReadonlySet<string>): boolean {
  return readAudiences(claims['aud'])?.some((audience) => accepted.has(audience)) ?? false;
}

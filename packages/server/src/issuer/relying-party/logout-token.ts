/**
 * What makes a JWT a logout token that is meant for us, now (OpenID Connect Back-Channel Logout).
 *
 * @module
 */

import { accept, type JsonValue, type Result, refuse } from '@sallyport/protocol';
import { CLOCK_TOLERANCE_SECONDS, isTime, readAudiences } from '../jwt/claim-readers.ts';
import type { Jwt } from '../jwt/jwt.ts';
import type { JsonObject } from '../jwt/strict-json.ts';

/** Whose sessions the IdP has ended. At least one of `subject` and `sid` is there. */
export interface LogoutToken {
  readonly issuer: string;
  readonly subject: string | undefined;
  /** The session at the IdP; without it all sessions of the subject are meant. */
  readonly sid: string | undefined;
  readonly jti: string;
  /** Epoch milliseconds. */
  readonly issuedAt: number;
  /** Epoch milliseconds from which on it is refused for its age: its `jti` may be forgotten then. */
  readonly acceptedUntil: number;
}

/** The first check that a token does not pass. Stable: a field of the log, never sent to the caller. */
export type LogoutTokenProblem =
  | 'typ'
  | 'iss'
  | 'aud'
  | 'azp'
  | 'exp'
  | 'nbf'
  | 'iat'
  | 'jti'
  | 'events'
  | 'nonce'
  | 'sub'
  | 'sid'
  | 'no_sub_and_no_sid';

/** Whose logout tokens are accepted, and for whom. */
export interface LogoutAudience {
  readonly issuer: string;
  readonly clientId: string;
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Explicit typing is recommended only, and older IdPs give `JWT` or nothing. */
const LOGOUT_TOKEN_TYPES: ReadonlySet<string> = new Set(['logout+jwt', 'jwt', '']);
/** What Keycloak writes into the claim `typ` of its other tokens. */
const OTHER_TOKEN_TYPES: ReadonlySet<string> = new Set(['id', 'bearer', 'refresh', 'offline']);
/** Long enough for an IdP that tries again; a token that was found somewhere is older. */
const MAX_AGE_SECONDS = 600;
const SUBJECT = /^[\x20-\x7e]{1,255}$/;
const IDENTIFIER_MAX_LENGTH = 1_024;

/**
 * Reads a logout token's claims and validates them: everything but form and signature, which are
 * verified elsewhere.
 *
 * `iss`, `aud`, `exp`, `nbf` and `iat` count as in an id_token. An id_token has no `events`, and an access
 * token of a client of its own says so in `azp`; neither passes. Claims that are not known are ignored.
 *
 * @param nowSeconds - Seconds since the epoch.
 *
 * @see [OIDC Back-Channel Logout 1.0 section 2.4](https://openid.net/specs/openid-connect-backchannel-1_0.html#LogoutToken) claims
 * @see [OIDC Back-Channel Logout 1.0 section 2.6](https://openid.net/specs/openid-connect-backchannel-1_0.html#Validation) steps 4 to 7
 */
export function validateLogoutToken(
  { type, claims }: Pick<Jwt, 'type' | 'claims'>,
  { issuer, clientId }: LogoutAudience,
  nowSeconds: number,
): Result<LogoutToken, LogoutTokenProblem> {
  if (!LOGOUT_TOKEN_TYPES.has(type) || isOtherToken(claims)) return refuse('typ');
  if (claims['iss'] !== issuer) return refuse('iss');
  if (readAudiences(claims['aud'])?.includes(clientId) !== true) return refuse('aud');
  const { azp, exp, nbf, iat, jti, events, sub, sid } = claims;
  if (azp !== undefined && azp !== clientId) return refuse('azp');
  if (!isTime(exp) || exp + CLOCK_TOLERANCE_SECONDS <= nowSeconds) return refuse('exp');
  if (nbf !== undefined && !isPast(nbf, nowSeconds)) return refuse('nbf');
  if (!isTime(iat) || !isPast(iat, nowSeconds)) return refuse('iat');
  if (iat + MAX_AGE_SECONDS + CLOCK_TOLERANCE_SECONDS <= nowSeconds) return refuse('iat');
  if (!isIdentifier(jti)) return refuse('jti');
  if (!isObject(events) || !isObject(events[EVENT])) return refuse('events');
  if (Object.hasOwn(claims, 'nonce')) return refuse('nonce');
  if (sub !== undefined && !(typeof sub === 'string' && SUBJECT.test(sub))) return refuse('sub');
  if (sid !== undefined && !isIdentifier(sid)) return refuse('sid');
  if (sub === undefined && sid === undefined) return refuse('no_sub_and_no_sid');
  const acceptedUntil = Math.min(exp, iat + MAX_AGE_SECONDS) + CLOCK_TOLERANCE_SECONDS;
  return accept({
    issuer,
    subject: sub,
    sid,
    jti,
    issuedAt: Math.floor(iat * 1_000),
    acceptedUntil: Math.ceil(acceptedUntil * 1_000),
  });
}

/** Cognito and Keycloak say in a claim what a token is for. */
function isOtherToken({ typ, token_use: use }: JsonObject): boolean {
  return use !== undefined || (typeof typ === 'string' && OTHER_TOKEN_TYPES.has(typ.toLowerCase()));
}

function isPast(time: JsonValue, nowSeconds: number): boolean {
  return isTime(time) && time - CLOCK_TOLERANCE_SECONDS <= nowSeconds;
}

function isIdentifier(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '' && value.length <= IDENTIFIER_MAX_LENGTH;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

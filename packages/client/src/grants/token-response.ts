/**
 * The successful answer of a token endpoint.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { TokenSet } from '../token-set.ts';
import { parseJsonObject } from './json-object.ts';
import { readExpiry } from './token-expiry.ts';

const TOKEN_MAX_LENGTH = 65_536;
/** What a header can carry, without blanks: wider than `b64token`, which some servers do not keep to. */
const TOKEN = /^[\x21-\x7e]+$/;
const LIFETIME_MAX_SECONDS = 10 * 365 * 86_400;

/**
 * Parses the answer. An `id_token` is not looked at: who a person is, is for the platform to say.
 *
 * @param text - Untrusted.
 * @param request - Scopes asked for, and the time in epoch milliseconds before the request was sent.
 *
 * @returns The tokens; otherwise what is wrong, completing "the answer …", without any of it.
 *
 * @see [RFC 6749 section 5.1](https://www.rfc-editor.org/rfc/rfc6749#section-5.1)
 */
export function parseTokenResponse(
  text: string,
  request: { readonly scopes: readonly string[]; readonly obtainedAt: number },
): Result<TokenSet, string> {
  const body = parseJsonObject(text);
  if (body === undefined) return refuse('is no JSON object');
  const {
    access_token: accessToken,
    token_type: tokenType,
    expires_in: lifetime,
    refresh_token: refreshToken,
    scope,
  } = body;
  if (!isToken(accessToken)) return refuse('has no usable access_token');
  if (typeof tokenType !== 'string' || tokenType.toLowerCase() !== 'bearer')
    return refuse('has a token_type other than Bearer');
  if (isGiven(refreshToken) && !isToken(refreshToken)) return refuse('has no usable refresh_token');
  const seconds = isGiven(lifetime) ? Number(lifetime) : undefined;
  const isLifetime =
    seconds === undefined ||
    ((typeof lifetime === 'number' || /^\d{1,12}$/.test(String(lifetime))) &&
      Number.isFinite(seconds) &&
      seconds >= 0);
  if (!isLifetime) return refuse('has an expires_in that is no number of seconds');
  if (isGiven(scope) && typeof scope !== 'string') return refuse('has a scope that is no text');
  return accept({
    accessToken,
    expiresAt:
      seconds === undefined
        ? readExpiry(accessToken)
        : request.obtainedAt + Math.min(seconds, LIFETIME_MAX_SECONDS) * 1_000,
    obtainedAt: request.obtainedAt,
    refreshToken: isToken(refreshToken) ? refreshToken : undefined,
    scopes:
      typeof scope === 'string' ? scope.split(' ').filter((word) => word !== '') : request.scopes,
  });
}

/** Whether text can be sent as a bearer token. */
export function isToken(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TOKEN_MAX_LENGTH && TOKEN.test(value);
}

/** `null` is what some servers send for "none". */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/**
 * What OpenID Connect asks of id_token claims beyond what the protocol library looks at.
 *
 * @module
 */

import { CLOCK_TOLERANCE_SECONDS, isTime } from '../jwt/claim-readers.ts';

const SUBJECT_MAX_LENGTH = 255;

/**
 * Finds the first check an id_token's claims do not pass.
 *
 * Signature, `iss`, `aud`, `exp`, `nbf` and `nonce` are verified before; this repeats `exp` as a sane
 * number and adds the subject's shape, a foreign `azp`, and a token from the future.
 *
 * @param nowSeconds - Seconds since the epoch.
 *
 * @returns The check's name for the log, or `undefined`.
 *
 * @see [OIDC Core 1.0 section 3.1.3.7](https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation)
 * @see [OIDC Core 1.0 section 2](https://openid.net/specs/openid-connect-core-1_0.html#IDToken) subject: at most 255 ASCII characters
 */
export function findIdTokenProblem(
  claims: Readonly<Record<string, unknown>>,
  clientId: string,
  nowSeconds: number,
): string | undefined {
  const { sub, azp, iat, exp, aud } = claims;
  if (typeof sub !== 'string' || !/^[\x20-\x7e]+$/.test(sub) || sub.length > SUBJECT_MAX_LENGTH)
    return 'sub';
  if (azp !== undefined && azp !== clientId) return 'azp';
  if (Array.isArray(aud) && aud.length > 1 && azp === undefined) return 'azp';
  if (!isTime(exp) || exp + CLOCK_TOLERANCE_SECONDS <= nowSeconds) return 'exp';
  if (!isTime(iat) || iat - CLOCK_TOLERANCE_SECONDS > nowSeconds) return 'iat';
  return undefined;
}

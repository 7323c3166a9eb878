/**
 * What was found in a token that is not accepted, beside what is, as one line for the operator.
 *
 * @module
 */

import { CLOCK_TOLERANCE_SECONDS, isTime } from '../issuer/jwt/claim-readers.ts';
import type { JsonObject } from '../issuer/jwt/strict-json.ts';
import { showFound } from '../issuer/metadata/issuer-difference.ts';
import type { ClaimsPolicy, ClaimsProblem } from './access-token.ts';

/**
 * Explains a claim that does not pass its check. The token is not verified: what it says is shown as found, and nothing else
 * is made of it.
 *
 * @param nowSeconds - Seconds since the epoch.
 *
 * @returns `undefined` for a claim about which the name of the problem says enough.
 */
export function explainTokenProblem(
  problem: ClaimsProblem,
  claims: JsonObject,
  { settings: { issuer, audiences } }: ClaimsPolicy,
  nowSeconds: number,
): string | undefined {
  const host = URL.parse(issuer)?.host ?? issuer;
  const { aud, exp } = claims;
  switch (problem) {
    case 'aud':
      return `the token is for ${showFound(aud)} (aud), accepted is ${audiences.join(' ')}: have ${issuer} issue it for that, or add it to auth.appAuth.externalAuthServer.allowedAudience`;
    case 'exp':
      return isTime(exp)
        ? `the token of ${host} ended ${Math.round(nowSeconds - exp)} s ago by this host's clock`
        : undefined;
    case 'iat':
    case 'nbf': {
      const time = claims[problem];
      return isTime(time)
        ? `the clock of ${host} is ${Math.round(time - nowSeconds)} s ahead of this host's, ${CLOCK_TOLERANCE_SECONDS} s are tolerated: synchronize both clocks`
        : undefined;
    }
    case 'iss':
    case 'sub':
    case 'client':
    case 'not_an_access_token':
    case 'bound_to_a_key':
      return undefined;
  }
}

/** Explains a token of an issuer that is none of those configured. */
export function explainUnknownIssuer(found: unknown, accepted: Iterable<string>): string {
  return `the token is of the issuer ${showFound(found)}, accepted is ${[...accepted].join(' ')}: both have to be the same, character by character`;
}

/**
 * Verifies logout tokens against what the IdP publishes.
 *
 * @module
 */

import { type Result, refuse } from '@sallyport/protocol';
import { parseJwt } from '../jwt/jwt.ts';
import { verifyJwtSignature } from '../jwt/jwt-signature.ts';
import { isSignatureAlgorithm } from '../jwt/signature.ts';
import type { IssuerKeys } from '../keys/issuer-keys.ts';
import type { FollowedMetadata } from '../metadata/issuer-metadata.ts';
import { selectIdTokenAlgorithms } from './id-token-signature.ts';
import { type LogoutToken, validateLogoutToken } from './logout-token.ts';
import type { LogoutTokenRefusal } from './relying-party.ts';

/** Settings and ports of {@link createLogoutTokenVerifier}. */
export interface LogoutTokenVerifierOptions {
  readonly clientId: string;
  readonly metadata: FollowedMetadata;
  readonly keys: IssuerKeys;
  readonly now: () => number;
}

/** Verifies logout tokens. Never rejects for a token, nor for an IdP that is down. */
export type LogoutTokenVerifier = (
  token: string,
) => Promise<Result<LogoutToken, LogoutTokenRefusal>>;

/**
 * Creates the verifier.
 *
 * The algorithms are those that the IdP offers for id_tokens, as far as they are asymmetric. Whatever
 * costs nothing is checked before the signature. A key that is not known decides nothing while the IdP is
 * not asked again: a token forged just before the IdP takes a new key into use would otherwise have the
 * IdP's own tokens refused for good.
 */
export function createLogoutTokenVerifier({
  clientId,
  metadata,
  keys,
  now,
}: LogoutTokenVerifierOptions): LogoutTokenVerifier {
  return async (token) => {
    const parsed = parseJwt(token);
    if (!parsed.ok) return invalid(parsed.error);
    if (!isSignatureAlgorithm(parsed.value.algorithm)) return invalid('alg');
    const idp = await metadata.need();
    if (idp === undefined) return refuse({ reason: 'idp_unreachable' });
    if (!selectIdTokenAlgorithms(idp).includes(parsed.value.algorithm)) return invalid('alg');
    const audience = { issuer: idp.issuer, clientId };
    const validated = validateLogoutToken(parsed.value, audience, now() / 1_000);
    if (!validated.ok) return invalid(validated.error);
    const result = await verifyJwtSignature(keys, parsed.value);
    switch (result) {
      case 'verified':
        return validated;
      case 'undecided':
        return refuse({ reason: 'idp_unreachable' });
      case 'pending':
        return pending(keys.untilAskMs('stranger'));
      case 'unknown_key':
      case 'signature':
        return invalid(result);
    }
  };
}

function pending(afterMs: number): Result<never, LogoutTokenRefusal> {
  const retryAfterSeconds = Math.max(1, Math.ceil(afterMs / 1_000));
  return refuse({ reason: 'key_pending', retryAfterSeconds });
}

function invalid(check: string): Result<never, LogoutTokenRefusal> {
  return refuse({ reason: 'token_invalid', check });
}

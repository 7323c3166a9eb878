/**
 * The token request of the authorization code, and every check on its answer.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import * as oidc from 'openid-client';
import { type Claims, joinClaims } from '../joined-claims.ts';
import type { IssuerKeys } from '../keys/issuer-keys.ts';
import { explainClaim, type RegisteredClient } from './client-refusal.ts';
import { toExchangeRefusal } from './exchange-refusal.ts';
import { findIdTokenProblem } from './id-token-claims.ts';
import { type IdpSignatures, isUndecided, keyUnavailable } from './idp-signatures.ts';
import type { CallbackChecks, ExchangedTokens, ExchangeRefusal } from './relying-party.ts';
import { findTokenTypeProblem } from './token-type.ts';

/** Settings and ports of {@link exchangeCode}. */
export interface CodeExchangeOptions {
  readonly client: RegisteredClient;
  readonly now: () => number;
  readonly keys: IssuerKeys;
  readonly signatures: IdpSignatures;
}

/** How long a sign-in waits until the IdP may be asked for a new key: its code is used up, so it cannot come again. */
const KEY_PATIENCE_MS = 10_000;

/**
 * Exchanges the code of a callback for tokens. Verifies state, nonce and code verifier, the type of the access
 * token, signature and claims of the id_token, and that userinfo is of the same subject. Never rejects.
 *
 * @param callback - The callback's query. Untrusted; repeated parameters already refused.
 *
 * @see [OIDC Core 1.0 section 3.1.3](https://openid.net/specs/openid-connect-core-1_0.html#TokenEndpoint)
 */
export async function exchangeCode(
  configuration: oidc.Configuration,
  callback: URLSearchParams,
  checks: CallbackChecks,
  options: CodeExchangeOptions,
): Promise<Result<ExchangedTokens, ExchangeRefusal>> {
  try {
    return await requestTokens(configuration, callback, checks, options);
  } catch (error) {
    return refuse(toExchangeRefusal(error, options.client, options.now() / 1_000));
  }
}

async function requestTokens(
  configuration: oidc.Configuration,
  callback: URLSearchParams,
  { state, nonce, codeVerifier }: CallbackChecks,
  { client, now, keys, signatures }: CodeExchangeOptions,
): Promise<Result<ExchangedTokens, ExchangeRefusal>> {
  const url = new URL(client.redirectUri);
  url.search = callback.toString();
  // In parallel with the exchange, so that a key withdrawn more than 30 s ago verifies no sign-in.
  const freshened = keys.freshen();
  const answer = await oidc.authorizationCodeGrant(configuration, url, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: codeVerifier,
    idTokenExpected: true,
  });
  const typeProblem = findTokenTypeProblem(answer);
  if (typeProblem !== undefined) return refuse({ reason: 'token_invalid', check: typeProblem });
  const idToken = answer.id_token ?? '';
  const verified = answer.claims();
  if (verified === undefined) return refuse({ reason: 'token_invalid', check: 'id_token form' });
  await freshened;
  const unsigned = await signatures.findProblem(idToken, KEY_PATIENCE_MS);
  if (isUndecided(unsigned)) return refuse({ reason: 'idp_unreachable', cause: keyUnavailable() });
  if (unsigned !== undefined) return refuse({ reason: 'token_invalid', check: unsigned });
  const nowSeconds = now() / 1_000;
  const check = findIdTokenProblem(verified, client.clientId, nowSeconds);
  if (check !== undefined) {
    const detail = explainClaim(check, verified, client, nowSeconds);
    return refuse({ reason: 'token_invalid', check, detail });
  }

  const { userinfo_endpoint: userInfoEndpoint } = configuration.serverMetadata();
  const userInfo =
    userInfoEndpoint === undefined
      ? undefined
      : await oidc.fetchUserInfo(configuration, answer.access_token, verified.sub);
  // Parsed from JSON by the library, whose type for it is a little wider than ours.
  const claims = joinClaims({ idToken: verified as Claims, userInfo: userInfo as Claims });
  return accept({
    tokens: { idToken, accessToken: answer.access_token, refreshToken: answer.refresh_token },
    claims: { ...claims, iss: verified.iss, sub: verified.sub },
    accessTokenLifeMs: answer.expires_in === undefined ? undefined : answer.expires_in * 1_000,
  });
}

/**
 * The fake IdP for the running test: it stands at noon and grants every refresh of one person.
 *
 * @module
 */

import { onTestFinished } from 'vitest';
import { NOON } from '../time/clock.ts';
import { type FakeIdp, startFakeIdp } from './fake-idp.ts';
import { forgeToken, type SigningKey, WEB_CLIENT } from './forge.ts';
import { IDP_JWK, IDP_KEY } from './idp-key.ts';

type Members = Readonly<Record<string, unknown>>;

/** The IdP under the hand of a test. */
export interface TokenIdp extends FakeIdp {
  /** Put over the honest claims of the id_token. */
  claims: Members;
  /** Put over the honest answer of the token endpoint. */
  granted: Members;
  /** An id_token as the IdP would sign it now. */
  issueIdToken(claims?: Members, key?: SigningKey): string;
}

/** Starts it; it ends with the test. */
export async function startTokenIdp(): Promise<TokenIdp> {
  const idp = await startFakeIdp(WEB_CLIENT, { privateJwk: IDP_JWK, grantsAll: true });
  onTestFinished(() => idp.close());
  const switches: Pick<TokenIdp, 'claims' | 'granted' | 'issueIdToken'> = {
    claims: {},
    granted: {},
    issueIdToken: (claims = {}, key = IDP_KEY) =>
      forgeToken(key, { ...honestClaims(idp.issuer), ...claims }, { typ: 'JWT' }),
  };
  const tokenIdp: TokenIdp = Object.assign(idp, switches);
  tokenIdp.userInfo = { sub: 'ada-subject', groups: ['engineers'] };
  tokenIdp.forge = () => Promise.resolve(tokenIdp.issueIdToken(tokenIdp.claims));
  tokenIdp.answer = (idToken) => ({
    body: JSON.stringify({
      access_token: 'access-token-2',
      token_type: 'Bearer',
      expires_in: 300,
      refresh_token: 'refresh-token-2',
      id_token: idToken,
      ...tokenIdp.granted,
    }),
  });
  return tokenIdp;
}

function honestClaims(issuer: string): Members {
  return {
    iss: issuer,
    sub: 'ada-subject',
    aud: WEB_CLIENT,
    iat: NOON / 1_000,
    exp: NOON / 1_000 + 600,
    name: 'Ada King',
  };
}

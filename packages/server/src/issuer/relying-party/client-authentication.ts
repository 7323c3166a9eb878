/**
 * How the web app proves itself to the IdP, at every endpoint that asks it to: token, revocation and
 * pushed authorization.
 *
 * @module
 */

import * as oidc from 'openid-client';
import type { ClientKeys } from './client-keys.ts';

/** What the web app proves itself by; read at each request, so that a new one needs no restart. */
export type ClientCredential =
  | { readonly method: 'client_secret'; readonly secret: () => string }
  | { readonly method: 'private_key_jwt'; readonly keys: ClientKeys };

/**
 * Creates the authentication of requests to the IdP.
 *
 * A secret goes into HTTP Basic where the IdP supports it, which is also what an IdP that says nothing
 * supports, else into the body. A key signs an assertion for each request: `iss` and `sub` are the
 * client, `aud` is the IdP's issuer and nothing else, so that an assertion is of no use at another
 * server whatever endpoint that one names as its own; it ends after a minute, and its `jti` is random.
 *
 * @see [RFC 7523 section 3](https://www.rfc-editor.org/rfc/rfc7523#section-3) the claims
 * @see [OpenID Connect Core 1.0 section 9](https://openid.net/specs/openid-connect-core-1_0.html#ClientAuthentication)
 */
export function createClientAuthentication(credential: ClientCredential): oidc.ClientAuth {
  switch (credential.method) {
    case 'client_secret':
      return (...call) => {
        const [server] = call;
        const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
        const authenticate = methods.includes('client_secret_basic')
          ? oidc.ClientSecretBasic
          : oidc.ClientSecretPost;
        return authenticate(credential.secret())(...call);
      };
    case 'private_key_jwt':
      return (...call) => {
        const { signingKey, publicKey, algorithm } = credential.keys.current();
        const nameAlgorithm: oidc.ModifyAssertionFunction = (header) => {
          // The library knows Ed25519 by one of its two names only.
          header['alg'] = algorithm;
        };
        const key = { key: signingKey, kid: publicKey.kid };
        return oidc.PrivateKeyJwt(key, { [oidc.modifyAssertion]: nameAlgorithm })(...call);
      };
  }
}

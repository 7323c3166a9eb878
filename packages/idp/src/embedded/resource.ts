/**
 * Which access tokens are JWTs for the deployment, and which are only good for userinfo.
 *
 * A token with scope `all` is a JWT (RFC 9068) whose audience is the deployment. A sign-in that
 * asks only for identity scopes gets an opaque token, because the userinfo endpoint accepts no
 * token meant for another audience.
 *
 * @module
 */

import { InvalidTarget } from 'oidc-provider/lib/helpers/errors.js';
import type { Client, RouteContext } from 'oidc-provider/lib/provider.js';
import { API_SCOPE, type IdpSpec } from '../spec/idp-spec.ts';
import { SIGNING_ALGORITHM } from './signing-key.ts';

/**
 * Builds the resource indicator settings (RFC 8707).
 *
 * @param accessTokenSeconds - Lifetime of an access token.
 */
export function buildResourceIndicators(
  spec: IdpSpec,
  accessTokenSeconds: number,
): Readonly<Record<string, unknown>> {
  return {
    enabled: true,
    /** A request with scope `all` means the deployment; so does every request of a service. */
    async defaultResource({ oidc }: RouteContext, client: Client, oneOf?: readonly string[]) {
      if (oneOf !== undefined) return oneOf[0];
      if (client.grantTypes.includes('client_credentials')) {
        // RFC 6749 section 3.3: an omitted scope has a default value. Real clients send `scope=`.
        if (oidc.params !== undefined) oidc.params['scope'] ??= API_SCOPE;
        return spec.audience;
      }
      return oidc.requestParamScopes.has(API_SCOPE) ? spec.audience : undefined;
    },
    /** The token request need not repeat the resource of the authorization request. */
    async useGrantedResource() {
      return true;
    },
    async getResourceServerInfo(_context: RouteContext, resource: string) {
      if (resource !== spec.audience) throw new InvalidTarget();
      return {
        scope: API_SCOPE,
        audience: spec.audience,
        accessTokenTTL: accessTokenSeconds,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: SIGNING_ALGORITHM } },
      };
    },
  };
}

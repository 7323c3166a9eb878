/**
 * The fake IdP for the running test, with the metadata document for clients.
 *
 * @module
 */

import { onTestFinished } from 'vitest';
import { type FakeIdp, startFakeIdp } from './fake-idp.ts';
import { WEB_CLIENT } from './forge.ts';
import { IDP_JWK } from './idp-key.ts';

/** What an honest server says. */
export function honestDocument(issuer: string): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    device_authorization_endpoint: `${issuer}/device`,
    revocation_endpoint: `${issuer}/revoke`,
    response_types_supported: ['code'],
    scopes_supported: ['openid', 'all'],
    grant_types_supported: ['authorization_code', 'client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}

/** Starts it; it ends with the test. */
export async function startMetadataServer(): Promise<FakeIdp> {
  const idp = await startFakeIdp(WEB_CLIENT, { privateJwk: IDP_JWK, document: honestDocument });
  onTestFinished(() => idp.close());
  return idp;
}

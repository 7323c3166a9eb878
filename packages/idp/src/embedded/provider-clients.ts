/**
 * The three applications in the shape that `oidc-provider` registers (RFC 7591 section 2).
 *
 * @module
 */

import { applicationsOf, type IdpApplication, type IdpSpec } from '../spec/idp-spec.ts';
import { SIGNING_ALGORITHM } from './signing-key.ts';

/** Secrets of the two confidential applications. */
export interface ClientSecrets {
  readonly web: string;
  readonly service: string;
}

/**
 * Builds the registrations of a specification.
 *
 * @returns One metadata object for each application; `client_secret` or `jwks_uri` only where it has one.
 */
export function buildClients(
  spec: IdpSpec,
  secrets: ClientSecrets,
): readonly Readonly<Record<string, unknown>>[] {
  return applicationsOf(spec).map((application) => ({
    client_id: application.clientId,
    client_name: application.name,
    application_type: application.role === 'native' ? 'native' : 'web',
    grant_types: [...application.grantTypes],
    response_types: application.grantTypes.includes('authorization_code') ? ['code'] : [],
    redirect_uris: [...application.redirectUris],
    post_logout_redirect_uris: [...application.postLogoutRedirectUris],
    ...backchannelOf(application),
    token_endpoint_auth_method: application.tokenEndpointAuthMethod,
    id_token_signed_response_alg: SIGNING_ALGORITHM,
    scope: application.scopes.join(' '),
    ...credentialOf(application, secrets),
  }));
}

/** Asking for the `sid` also puts it into the application's id_tokens. */
function backchannelOf({ backchannelLogoutUri }: IdpApplication): {
  readonly backchannel_logout_uri?: string;
  readonly backchannel_logout_session_required?: true;
} {
  return backchannelLogoutUri === undefined
    ? {}
    : {
        backchannel_logout_uri: backchannelLogoutUri,
        backchannel_logout_session_required: true,
      };
}

function credentialOf(
  { role, jwksUri }: IdpApplication,
  secrets: ClientSecrets,
): { readonly client_secret?: string; readonly jwks_uri?: string } {
  if (jwksUri !== undefined) return { jwks_uri: jwksUri };
  switch (role) {
    case 'web':
      return { client_secret: secrets.web };
    case 'service':
      return { client_secret: secrets.service };
    case 'native':
      return {};
  }
}

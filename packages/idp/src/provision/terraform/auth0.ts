/**
 * The setup of Auth0, as a Terraform configuration.
 *
 * @module
 */

import { type DeploymentSpec, registeredGrants } from '../../spec/deployment-spec.ts';
import type { IdpApplication } from '../../spec/idp-spec.ts';
import { NAME, nameOf, output, reference, requireProvider, resource } from './blocks.ts';
import { formatHcl, type HclBlock } from './hcl.ts';

const CLIENT = 'auth0_client';
const API = 'auth0_resource_server';
const CREDENTIALS = 'auth0_client_credentials';
const TYPES = { web: 'regular_web', native: 'native', service: 'non_interactive' } as const;

/**
 * Writes the configuration: an API whose identifier is the public URL, with the scope, and the applications. Auth0 chooses
 * the client IDs itself; they are outputs.
 */
export function renderAuth0({
  web,
  native,
  services,
  authorizationServer,
}: DeploymentSpec): string {
  const { name, audience, scope, lifetimes } = authorizationServer;
  const named = services.map((service, index) => [service, nameOf(service, index)] as const);
  const all = [[web, 'web'] as const, [native, 'native'] as const, ...named];
  const hasRefresh = all.some(([application]) => application.scopes.includes('offline_access'));
  return formatHcl([
    requireProvider('auth0', 'auth0/auth0', '>= 1.10.0'),
    resource(API, NAME, {
      name,
      identifier: audience,
      signing_alg: 'RS256',
      token_lifetime: lifetimes.accessTokenSeconds,
      allow_offline_access: hasRefresh,
      skip_consent_for_verifiable_first_party_clients: true,
    }),
    resource(
      'auth0_resource_server_scopes',
      NAME,
      { resource_server_identifier: reference(API, NAME, 'identifier') },
      [{ type: 'scopes', attributes: { name: scope.name, description: scope.description } }],
    ),
    ...all.flatMap(([application, label]) => [
      createClient(application, label, lifetimes.refreshTokenIdleSeconds),
      resource(CREDENTIALS, label, {
        client_id: reference(CLIENT, label, 'client_id'),
        authentication_method: application.tokenEndpointAuthMethod,
      }),
    ]),
    ...named.map(([, label]) =>
      resource('auth0_client_grant', label, {
        client_id: reference(CLIENT, label, 'client_id'),
        audience: reference(API, NAME, 'identifier'),
        scopes: [scope.name],
      }),
    ),
    ...all.map(([, label]) =>
      output(`${label}_client_id`, reference(CLIENT, label, 'client_id'), false),
    ),
    ...all
      .filter(([{ tokenEndpointAuthMethod }]) => tokenEndpointAuthMethod === 'client_secret_basic')
      .map(([, label]) =>
        output(`${label}_client_secret`, reference(CREDENTIALS, label, 'client_secret'), true),
      ),
  ]);
}

function createClient(application: IdpApplication, label: string, idleSeconds: number): HclBlock {
  const { name, role, redirectUris, postLogoutRedirectUris, scopes } = application;
  const { backchannelLogoutUri } = application;
  const blocks: HclBlock[] = [{ type: 'jwt_configuration', attributes: { alg: 'RS256' } }];
  if (redirectUris.length > 0 && scopes.includes('offline_access'))
    blocks.push({
      type: 'refresh_token',
      attributes: {
        rotation_type: 'rotating',
        expiration_type: 'expiring',
        leeway: 0,
        idle_token_lifetime: idleSeconds,
        infinite_idle_token_lifetime: false,
      },
    });
  if (backchannelLogoutUri !== undefined)
    blocks.push({
      type: 'oidc_logout',
      attributes: { backchannel_logout_urls: [backchannelLogoutUri] },
      blocks: [{ type: 'backchannel_logout_initiators', attributes: { mode: 'all' } }],
    });
  return resource(
    CLIENT,
    label,
    {
      name,
      app_type: TYPES[role],
      is_first_party: true,
      oidc_conformant: true,
      grant_types: registeredGrants(application),
      ...(redirectUris.length > 0 ? { callbacks: redirectUris } : {}),
      ...(postLogoutRedirectUris.length > 0 ? { allowed_logout_urls: postLogoutRedirectUris } : {}),
    },
    blocks,
  );
}

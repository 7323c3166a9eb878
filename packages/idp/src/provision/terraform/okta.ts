/**
 * The setup of Okta, as a Terraform configuration.
 *
 * @module
 */

import { type DeploymentSpec, registeredGrants } from '../../spec/deployment-spec.ts';
import type { IdpApplication } from '../../spec/idp-spec.ts';
import { NAME, nameOf, output, reference, requireProvider, resource } from './blocks.ts';
import { formatHcl, type HclBlock } from './hcl.ts';

const APP = 'okta_app_oauth';
const SERVER = 'okta_auth_server';
const TYPES = { web: 'web', native: 'native', service: 'service' } as const;
const SECONDS_A_MINUTE = 60;

/** Writes the configuration: a custom authorization server with scope, policy and rule, and the applications. */
export function renderOkta({ web, native, services, authorizationServer }: DeploymentSpec): string {
  const { name, audience, scope, policy, rule, lifetimes } = authorizationServer;
  const server = { auth_server_id: reference(SERVER, NAME, 'id') };
  const named = services.map((service, index) => [service, nameOf(service, index)] as const);
  const all = [[web, 'web'] as const, [native, 'native'] as const, ...named];
  return formatHcl([
    requireProvider('okta', 'okta/okta', '>= 4.8.0'),
    resource(SERVER, NAME, {
      name,
      description: scope.description,
      audiences: [audience],
      issuer_mode: 'ORG_URL',
      status: 'ACTIVE',
    }),
    resource('okta_auth_server_scope', scope.name, {
      ...server,
      name: scope.name,
      description: scope.description,
      consent: 'IMPLICIT',
      metadata_publish: 'ALL_CLIENTS',
      default: false,
    }),
    ...all.map(([application, label]) => createApplication(application, label)),
    resource('okta_auth_server_policy', NAME, {
      ...server,
      name: policy.name,
      description: scope.description,
      status: 'ACTIVE',
      priority: 1,
      client_whitelist: all.map(([, label]) => reference(APP, label, 'client_id')),
    }),
    resource('okta_auth_server_policy_rule', NAME, {
      ...server,
      policy_id: reference('okta_auth_server_policy', NAME, 'id'),
      name: rule.name,
      status: 'ACTIVE',
      priority: 1,
      grant_type_whitelist: rule.grantTypes,
      group_whitelist: ['EVERYONE'],
      // A rule that lists scopes refuses a request with one more as a whole.
      scope_whitelist: ['*'],
      access_token_lifetime_minutes: lifetimes.accessTokenSeconds / SECONDS_A_MINUTE,
      refresh_token_lifetime_minutes: 0,
      refresh_token_window_minutes: lifetimes.refreshTokenIdleSeconds / SECONDS_A_MINUTE,
    }),
    output('OIDC_BASE_URL', reference(SERVER, NAME, 'issuer'), false),
    ...all.map(([, label]) =>
      output(`${label}_client_id`, reference(APP, label, 'client_id'), false),
    ),
    ...all
      .filter(([application]) => isConfidential(application))
      .map(([, label]) =>
        output(`${label}_client_secret`, reference(APP, label, 'client_secret'), true),
      ),
  ]);
}

function createApplication(application: IdpApplication, label: string): HclBlock {
  const { clientId, name, role, redirectUris, postLogoutRedirectUris, scopes } = application;
  const hasCode = redirectUris.length > 0;
  return resource(APP, label, {
    label: name,
    type: TYPES[role],
    client_id: clientId,
    grant_types: registeredGrants(application),
    response_types: hasCode ? ['code'] : ['token'],
    token_endpoint_auth_method: application.tokenEndpointAuthMethod,
    pkce_required: hasCode,
    consent_method: 'TRUSTED',
    ...(hasCode ? { redirect_uris: redirectUris } : {}),
    ...(postLogoutRedirectUris.length > 0
      ? { post_logout_redirect_uris: postLogoutRedirectUris }
      : {}),
    ...(hasCode && scopes.includes('offline_access')
      ? { refresh_token_rotation: 'ROTATE', refresh_token_leeway: 0 }
      : {}),
  });
}

function isConfidential({ tokenEndpointAuthMethod }: IdpApplication): boolean {
  return tokenEndpointAuthMethod === 'client_secret_basic';
}

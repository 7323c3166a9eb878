/**
 * What an identity provider of one's own must hold for one deployment: the applications, and an authorization server
 * with scope, access policy, rule and lifetimes.
 *
 * Data only. Each provider's setup is a translation of it; what a provider has no word for, its page in docs/idp says.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import {
  ACCESS_TOKEN_SECONDS,
  API_SCOPE,
  createIdpSpec,
  type GrantType,
  type IdpApplication,
  type IdpClientIds,
  type IdpSpecOptions,
} from './idp-spec.ts';

/** The authorization server of a deployment (requirement, "Authorization server at the IdP"). */
export interface AuthorizationServerSpec {
  readonly name: string;
  /** `aud` of its access tokens: the deployment's public URL. */
  readonly audience: string;
  readonly scope: { readonly name: string; readonly description: string };
  /** Admits these clients and no other. */
  readonly policy: { readonly name: string; readonly clientIds: readonly string[] };
  /**
   * Grants that the rule permits. `refresh_token` is not among them: a provider's rule counts it as part of
   * `authorization_code`, and an application has it by {@link registeredGrants}.
   */
  readonly rule: { readonly name: string; readonly grantTypes: readonly GrantType[] };
  readonly lifetimes: {
    readonly accessTokenSeconds: number;
    /** A refresh token that is unused for so long ends. */
    readonly refreshTokenIdleSeconds: number;
  };
}

/** Everything that one deployment needs of its identity provider. */
export interface DeploymentSpec {
  readonly web: IdpApplication;
  readonly native: IdpApplication;
  /** The shared service app first, then those of single components. */
  readonly services: readonly [IdpApplication, ...IdpApplication[]];
  readonly authorizationServer: AuthorizationServerSpec;
}

/** What a deployment may ask for beyond the requirement's table. */
export interface DeploymentSpecOptions extends IdpSpecOptions {
  /** Client IDs of service apps for single components, beside the shared one. None when absent. */
  readonly furtherServices?: readonly string[];
}

/** Grant types as providers register them: the refresh of a token is one of its own there. */
export type RegisteredGrant = GrantType | 'refresh_token';

const REFRESH_TOKEN_IDLE_SECONDS = 7 * 24 * 60 * 60;

/**
 * Builds the specification.
 *
 * @throws {SallyportError} `SP_CONFIG_INVALID` when the URL or an identifier cannot be registered, or two are the same.
 */
export function createDeploymentSpec(
  publicUrl: string,
  clientIds: IdpClientIds,
  { furtherServices = [], ...options }: DeploymentSpecOptions = {},
): DeploymentSpec {
  const { web, native, service, audience } = createIdpSpec(publicUrl, clientIds, options);
  const further = furtherServices.map((clientId) => {
    // Checks the identifier as that of the shared one is checked.
    const spec = createIdpSpec(publicUrl, { ...clientIds, service: clientId }, options);
    return { ...spec.service, name: `${service.name}: ${clientId}` };
  });
  const services: DeploymentSpec['services'] = [service, ...further];
  const ids = [web, native, ...services].map(({ clientId }) => clientId);
  if (new Set(ids).size !== ids.length)
    throw new SallyportError('SP_CONFIG_INVALID', {
      component: 'idp',
      detail: 'two applications have the same client identifier',
    });
  return {
    web,
    native,
    services,
    authorizationServer: {
      name: 'Sallyport',
      audience,
      scope: { name: API_SCOPE, description: `Access to ${audience}` },
      policy: { name: 'Sallyport applications', clientIds: ids },
      rule: {
        name: 'Sallyport grants',
        grantTypes: [
          'authorization_code',
          'client_credentials',
          'urn:ietf:params:oauth:grant-type:device_code',
        ],
      },
      lifetimes: {
        accessTokenSeconds: ACCESS_TOKEN_SECONDS,
        refreshTokenIdleSeconds: REFRESH_TOKEN_IDLE_SECONDS,
      },
    },
  };
}

/** All applications: the web app, the native app, the service apps. */
export function listApplications({
  web,
  native,
  services,
}: DeploymentSpec): readonly IdpApplication[] {
  return [web, native, ...services];
}

/**
 * Grant types to register for an application. One that may ask for `offline_access` is registered for refresh tokens as
 * well: some providers refuse the scope otherwise. It is part of the code grant, not a fourth one of the requirement's.
 */
export function registeredGrants({
  grantTypes,
  scopes,
}: IdpApplication): readonly RegisteredGrant[] {
  const mayRefresh = grantTypes.includes('authorization_code') && scopes.includes('offline_access');
  return mayRefresh ? [...grantTypes, 'refresh_token'] : grantTypes;
}

/**
 * The applications of a deployment in Keycloak's words. Pure.
 *
 * @module
 */

import { type DeploymentSpec, listApplications } from '../../spec/deployment-spec.ts';
import { API_SCOPE, type IdpApplication } from '../../spec/idp-spec.ts';

/**
 * Attribute of everything that a setup made, with the deployment's public URL as its value. What has another value or
 * none is neither changed nor removed.
 */
export const OWNER_ATTRIBUTE = 'sallyport.deployment';

/** A client as it should be. */
export interface ClientWish {
  readonly clientId: string;
  /** Members of the representation that are managed; every other stays as it is. */
  readonly members: Readonly<Record<string, boolean | string | readonly string[]>>;
  /** Attributes that are managed; an empty text means that there is none. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly mapper: MapperWish;
  /** Client scopes that all of its tokens have. */
  readonly defaults: readonly string[];
  /** Client scopes that it can ask for, each default or optional. */
  readonly linked: readonly string[];
  /** Client scopes that it cannot ask for. */
  readonly unlinked: readonly string[];
  /** Whether Keycloak keeps a secret for it. */
  readonly hasSecret: boolean;
}

/** The protocol mapper that puts the deployment into the audience of access tokens. */
export interface MapperWish {
  readonly name: string;
  readonly protocol: string;
  readonly protocolMapper: string;
  readonly config: Readonly<Record<string, string>>;
}

/** The client scope as it should be where the setup makes it. */
export interface ScopeWish {
  readonly name: string;
  readonly description: string;
  readonly protocol: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Everything in a realm that a deployment needs. */
export interface RealmWishes {
  readonly owner: string;
  readonly scope: ScopeWish;
  readonly clients: readonly ClientWish[];
}

const PROTOCOL = 'openid-connect';
const MAPPER_NAME = 'sallyport-audience';
/** Scopes that an application has only if the specification says so: each gives it more than a person's name. */
const GUARDED_SCOPES = [API_SCOPE, 'offline_access'];

/**
 * Client scope that puts `sub` into access tokens of people, and `auth_time`, from Keycloak 25 on; before, they are always
 * there. A realm gives it to every new client, unless someone took it out of the realm's default scopes.
 *
 * @see Keycloak, Upgrading Guide, "Migrating to 25.0.0", "New default client scope basic"
 */
export const BASIC_SCOPE = 'basic';

/**
 * Translates a specification.
 *
 * @param realmScopes - Names of the client scopes that the realm has; of those that a token needs, no other can be linked.
 */
export function createRealmWishes(
  spec: DeploymentSpec,
  realmScopes: readonly string[],
): RealmWishes {
  const { audience, scope } = spec.authorizationServer;
  return {
    owner: audience,
    scope: {
      ...scope,
      protocol: PROTOCOL,
      attributes: {
        [OWNER_ATTRIBUTE]: audience,
        'include.in.token.scope': 'true',
        'display.on.consent.screen': 'false',
      },
    },
    clients: listApplications(spec).map((application) =>
      createClientWish(application, spec, realmScopes),
    ),
  };
}

/** Translates one application, as {@link createRealmWishes} does. */
export function createClientWish(
  application: IdpApplication,
  { authorizationServer }: DeploymentSpec,
  realmScopes: readonly string[],
): ClientWish {
  const { clientId, name, grantTypes, scopes, redirectUris, tokenEndpointAuthMethod } = application;
  const isPublic = tokenEndpointAuthMethod === 'none';
  return {
    clientId,
    members: {
      name,
      enabled: true,
      protocol: PROTOCOL,
      bearerOnly: false,
      publicClient: isPublic,
      clientAuthenticatorType:
        tokenEndpointAuthMethod === 'private_key_jwt' ? 'client-jwt' : 'client-secret',
      consentRequired: application.consent !== 'trusted',
      standardFlowEnabled: grantTypes.includes('authorization_code'),
      implicitFlowEnabled: false,
      directAccessGrantsEnabled: false,
      serviceAccountsEnabled: grantTypes.includes('client_credentials'),
      frontchannelLogout: false,
      // A token with every role of a person would be large, and would show them to the platform.
      fullScopeAllowed: false,
      redirectUris,
      webOrigins: [],
    },
    attributes: attributesOf(application, authorizationServer),
    mapper: createAudienceMapper(authorizationServer.audience),
    defaults: realmScopes.includes(BASIC_SCOPE) ? [BASIC_SCOPE] : [],
    linked: scopes.filter((scope) => scope !== 'openid'),
    unlinked: GUARDED_SCOPES.filter((scope) => !scopes.includes(scope)),
    hasSecret: tokenEndpointAuthMethod === 'client_secret_basic',
  };
}

/** The mapper of each client. It is not in the scope: two deployments may share a realm, and with it the scope. */
function createAudienceMapper(audience: string): MapperWish {
  return {
    name: MAPPER_NAME,
    protocol: PROTOCOL,
    protocolMapper: 'oidc-audience-mapper',
    config: {
      'included.custom.audience': audience,
      'access.token.claim': 'true',
      'id.token.claim': 'false',
      'introspection.token.claim': 'true',
    },
  };
}

function attributesOf(
  application: IdpApplication,
  { audience, lifetimes }: DeploymentSpec['authorizationServer'],
): Readonly<Record<string, string>> {
  const { grantTypes, scopes, backchannelLogoutUri = '', jwksUri = '' } = application;
  const hasCode = grantTypes.includes('authorization_code');
  const notifies = backchannelLogoutUri !== '';
  return {
    [OWNER_ATTRIBUTE]: audience,
    'access.token.lifespan': String(lifetimes.accessTokenSeconds),
    // Both applications send a challenge always, so Keycloak may insist on it for both.
    'pkce.code.challenge.method': hasCode ? 'S256' : '',
    'oauth2.device.authorization.grant.enabled': String(
      grantTypes.includes('urn:ietf:params:oauth:grant-type:device_code'),
    ),
    'oidc.ciba.grant.enabled': 'false',
    'standard.token.exchange.enabled': 'false',
    'use.refresh.tokens': String(hasCode && scopes.includes('offline_access')),
    'client_credentials.use_refresh_token': 'false',
    'post.logout.redirect.uris': application.postLogoutRedirectUris.join('##'),
    'backchannel.logout.url': backchannelLogoutUri,
    'backchannel.logout.session.required': notifies ? 'true' : '',
    'backchannel.logout.revoke.offline.tokens': notifies ? 'false' : '',
    'use.jwks.url': jwksUri === '' ? '' : 'true',
    'jwks.url': jwksUri,
  };
}

/**
 * The settings that turn `oidc-provider` into the embedded IdP.
 *
 * Every function whose default the library would announce on the terminal is given here.
 *
 * @module
 */

import type { JWK } from 'jose';
import { InvalidRequest } from 'oidc-provider/lib/helpers/errors.js';
import { base, Prompt } from 'oidc-provider/lib/helpers/interaction_policy/index.js';
import type { Account, Client, RouteContext, Token } from 'oidc-provider/lib/provider.js';
import { applicationsOf, type IdpSpec } from '../spec/idp-spec.ts';
import type { ClientRegistry } from './api-keys/client-registry.ts';
import { LOGOUT_FEATURE, SESSION_COOKIE } from './logout.ts';
import type { MemoryStore } from './memory-adapter.ts';
import { OFFLINE_ACCESS_PARAMETERS } from './offline-access.ts';
import { createOutgoingFetch } from './outgoing-fetch.ts';
import { buildClients, type ClientSecrets } from './provider-clients.ts';
import { DEVICE_FLOW_FEATURE, renderError } from './provider-pages.ts';
import { buildResourceIndicators } from './resource.ts';
import { interactionPath, ROUTES } from './routes.ts';
import { createGrantLoader } from './trusted-grant.ts';
import { claimsOf, type SeededUser } from './users.ts';

/** What the settings are made of. */
export interface ProviderInputs {
  readonly spec: IdpSpec;
  readonly secrets: ClientSecrets;
  readonly signingKey: JWK;
  readonly cookieKey: string;
  readonly users: readonly SeededUser[];
  readonly store: MemoryStore;
  /** The clients behind API keys, beside the three applications. */
  readonly apiKeys: ClientRegistry;
  readonly accessTokenTtlSeconds: number;
  /** Whether an authorization request that was not pushed (RFC 9126) is refused. */
  readonly requirePushedAuthorization: boolean;
  /** The way out to registered applications. */
  readonly fetch: typeof fetch;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Lifetimes in seconds. A grant outlives the refresh tokens that hang on it. */
const LIFETIMES = {
  AuthorizationCode: MINUTE,
  DeviceCode: 10 * MINUTE,
  Grant: 90 * DAY,
  IdToken: HOUR,
  Interaction: 30 * MINUTE,
  RefreshToken: 14 * DAY,
  Session: 7 * DAY,
} as const;

const PROFILE_CLAIMS = ['name', 'preferred_username', 'given_name', 'family_name'] as const;
const EMAIL_CLAIMS = ['email', 'email_verified'] as const;

/** Builds the configuration object of the provider. */
export function buildProviderConfiguration(
  inputs: ProviderInputs,
): Readonly<Record<string, unknown>> {
  const { spec, users, store, accessTokenTtlSeconds } = inputs;
  return {
    adapter: (model: string) =>
      model === 'Client' ? createClientAdapter(inputs.apiKeys) : store.adapterFor(model),
    clients: buildClients(spec, inputs.secrets),
    clientAuthMethods: [
      ...new Set(applicationsOf(spec).map((application) => application.tokenEndpointAuthMethod)),
    ],
    clientBasedCORS: () => false,
    clockTolerance: 5,
    cookies: {
      keys: [inputs.cookieKey],
      names: {
        session: 'sallyport_idp_session',
        interaction: 'sallyport_idp_interaction',
        resume: 'sallyport_idp_resume',
      },
      long: SESSION_COOKIE,
      short: { httpOnly: true, sameSite: 'lax', signed: true },
    },
    jwks: { keys: [inputs.signingKey] },
    responseTypes: ['code'],
    routes: ROUTES,
    scopes: spec.scopes,
    // The sign-in of the requirement asks for `profile` but not `email`, and e-mail is shown to
    // backends: `profile` brings it too. Identity claims stand in the ID token and in userinfo.
    claims: {
      openid: ['sub', 'auth_time', 'amr'],
      profile: [...PROFILE_CLAIMS, ...EMAIL_CLAIMS],
      email: EMAIL_CLAIMS,
    },
    conformIdTokenClaims: false,
    extraParams: OFFLINE_ACCESS_PARAMETERS,
    extraTokenClaims: (_context: unknown, token: Token) => identityClaims(users, token),
    findAccount: (_context: unknown, subject: string) => findAccount(users, subject),
    loadExistingGrant: createGrantLoader(spec),
    pkce: {
      required: (_context: unknown, client: Client) =>
        client.clientId === spec.native.clientId ? spec.native.pkce === 'required' : false,
    },
    rotateRefreshToken: true,
    ttl: {
      ...LIFETIMES,
      AccessToken: accessTokenTtlSeconds,
      ClientCredentials: accessTokenTtlSeconds,
    },
    interactions: {
      policy: buildPolicy(),
      url: (_context: unknown, interaction: { readonly uid: string }) =>
        interactionPath(interaction.uid),
    },
    renderError,
    fetch: createOutgoingFetch(applicationsOf(spec), inputs.fetch),
    features: {
      backchannelLogout: { enabled: true },
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      deviceFlow: DEVICE_FLOW_FEATURE,
      dPoP: { enabled: false },
      pushedAuthorizationRequests: {
        enabled: true,
        requirePushedAuthorizationRequests: inputs.requirePushedAuthorization,
      },
      introspection: { enabled: true, allowedPolicy: mayIntrospect },
      resourceIndicators: buildResourceIndicators(spec, accessTokenTtlSeconds),
      revocation: { enabled: true, allowedPolicy: mayRevoke },
      rpInitiatedLogout: LOGOUT_FEATURE,
    },
  };
}

/** The provider looks here for clients other than the three; it registers none itself. */
function createClientAdapter(apiKeys: ClientRegistry) {
  return { find: async (clientId: string) => apiKeys.findRegistration(clientId) };
}

/** Signing in and choosing an account are one page; `prompt=consent` is accepted and asks nothing. */
function buildPolicy(): readonly Prompt[] {
  const policy = base();
  policy.get('consent')?.checks.clear();
  policy.add(new Prompt({ name: 'select_account', requestable: true }), 0);
  return policy;
}

function findAccount(users: readonly SeededUser[], subject: string): Account | undefined {
  const user = users.find(({ login }) => login === subject);
  if (user === undefined) return undefined;
  return { accountId: user.login, claims: () => ({ sub: user.login, ...claimsOf(user) }) };
}

/** RFC 9068 section 2.2.3: identity claims in the access token spare a call to userinfo. */
function identityClaims(
  users: readonly SeededUser[],
  token: Token,
): Readonly<Record<string, unknown>> | undefined {
  const user = users.find(({ login }) => login === token.accountId);
  return user === undefined ? undefined : { ...claimsOf(user) };
}

/** RFC 7662 section 2.1: a confidential application may ask about every token, a public one about its own. */
function mayIntrospect(_context: RouteContext, client: Client, token: Token): boolean {
  return client.clientAuthMethod !== 'none' || client.clientId === token.clientId;
}

/** RFC 7009 section 2.1: a token of another client is refused with an error. */
function mayRevoke(_context: RouteContext, client: Client, token: Token): boolean {
  if (client.clientId === token.clientId) return true;
  throw new InvalidRequest('the token was issued to another client');
}

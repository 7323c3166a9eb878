/**
 * The provider of `oidc-provider`, configured, stricter in two places and, by scope, wider in one.
 *
 * @module
 */

import { type Client, Provider } from 'oidc-provider/lib/provider.js';
import type { ClientRegistry } from './api-keys/client-registry.ts';
import { redirectToCallback } from './callback-redirect.ts';
import { leaveForm } from './form-navigation.ts';
import { skipEmptyLogout } from './logout.ts';
import { buildProviderConfiguration, type ProviderInputs } from './provider-configuration.ts';
import { addPollInterval } from './provider-pages.ts';

/**
 * Creates a provider that listens nowhere and shows no sign-in page yet.
 *
 * @param issuer - Origin of the IdP; the library derives endpoint URLs from the request, so the
 *   caller MUST answer only requests for this origin.
 */
export function createProvider(issuer: string, inputs: ProviderInputs): Provider {
  const provider = new Provider(issuer, buildProviderConfiguration(inputs));
  const { prototype } = provider.Client;
  // The library admits every port on a native application's loopback URI (RFC 8252 section 7.3).
  // The requirement registers one port, and clients listen on that one: compare byte for byte.
  prototype.redirectUriAllowed = isRegisteredRedirectUri;
  prototype.postLogoutRedirectUriAllowed = isRegisteredPostLogoutRedirectUri;
  // The library wants `refresh_token` registered as a grant; the requirement's rows do not name it.
  prototype.grantTypeAllowed = isGrantTypeAllowed;
  // Of the clients behind API keys only digests are kept, so the library cannot compare their secrets.
  prototype.compareClientSecret = withDigests(inputs.apiKeys, prototype.compareClientSecret);

  provider.use(leaveForm);
  provider.use(redirectToCallback);
  provider.use(addPollInterval);
  provider.use(skipEmptyLogout);
  return provider;
}

function isRegisteredRedirectUri(this: Client, uri: string): boolean {
  return this.redirectUris.includes(uri);
}

function isRegisteredPostLogoutRedirectUri(this: Client, uri: string): boolean {
  return this.postLogoutRedirectUris?.includes(uri) === true;
}

/** Refreshing is allowed by the scope `offline_access` alone, every other grant by its registration. */
function isGrantTypeAllowed(this: Client, grantType: string): boolean {
  return grantType === 'refresh_token'
    ? this.scope?.split(' ').includes('offline_access') === true
    : this.grantTypes.includes(grantType);
}

/** Compares the secret of an API key's client by its digest, and of any other as `compare` does. */
function withDigests(
  apiKeys: ClientRegistry,
  compare: (this: Client, secret: string) => boolean,
): (this: Client, secret: string) => boolean {
  return function compareClientSecret(secret) {
    return apiKeys.verifySecret(this.clientId, secret) ?? compare.call(this, secret);
  };
}

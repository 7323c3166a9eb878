/**
 * What an identity provider must hold for one deployment: three applications and the scopes.
 *
 * Data only. The embedded IdP is made from it, and so is the setup of any other IdP, so that the two cannot
 * drift apart.
 *
 * @module
 */

import { listSharedClientIds, PATHS, SallyportError } from '@sallyport/protocol';

/**
 * RFC 6749 and RFC 8628 grant types that an application may be registered for. Refresh tokens are no
 * grant of their own here: they follow from the scope `offline_access` (OpenID Connect Core 1.0 section 11).
 */
export type GrantType =
  | 'authorization_code'
  | 'client_credentials'
  | 'urn:ietf:params:oauth:grant-type:device_code';

/** One registered application. Every list is complete: what is not named is refused. */
export interface IdpApplication {
  /** Which of the three rows of the requirement this is. */
  readonly role: 'web' | 'native' | 'service';
  readonly clientId: string;
  /** Shown to people on sign-in and device pages. */
  readonly name: string;
  readonly grantTypes: readonly GrantType[];
  /** Compared byte for byte, port included. */
  readonly redirectUris: readonly string[];
  /** Compared byte for byte. */
  readonly postLogoutRedirectUris: readonly string[];
  /** Where it gets logout tokens, with the `sid` of the session (OpenID Connect Back-Channel Logout). */
  readonly backchannelLogoutUri?: string;
  readonly tokenEndpointAuthMethod: 'client_secret_basic' | 'private_key_jwt' | 'none';
  /** Where it publishes its keys; present with `private_key_jwt` alone. */
  readonly jwksUri?: string;
  /** `required`: an authorization request without an S256 challenge is refused (RFC 7636). */
  readonly pkce: 'required' | 'optional';
  /** First-party applications never show a consent page. */
  readonly consent: 'trusted';
  readonly scopes: readonly string[];
}

/** The three applications, and the resource that their access tokens are for. */
export interface IdpSpec {
  /** `aud` of an access token with scope `all`: the deployment's public URL, byte for byte. */
  readonly audience: string;
  readonly scopes: readonly string[];
  readonly web: IdpApplication;
  readonly native: IdpApplication;
  readonly service: IdpApplication;
}

/** What a deployment may ask for beyond the requirement's table. */
export interface IdpSpecOptions {
  /**
   * Registers the native application for refresh tokens as well: for the scope `offline_access`. The
   * requirement's row does not name it, so it is off by default.
   */
  readonly nativeRefreshTokens?: boolean;
  /**
   * Registers the web application for `private_key_jwt` (RFC 7523) with the keys that are published
   * there. The requirement's row has a client secret, which is what it has when this is absent.
   */
  readonly webJwksUri?: string;
}

/** Client identifiers of the three applications; all different. */
export interface IdpClientIds {
  readonly web: string;
  readonly native: string;
  readonly service: string;
}

/** The scope that admits to the deployment's API (requirement, "Authorization server", row 2). */
export const API_SCOPE = 'all';

/** Lifetime of an access token of the embedded IdP, unless another is set. */
export const ACCESS_TOKEN_SECONDS: number = 60 * 60;

/** Where command-line clients listen for the answer (requirement, "Limits", 53593). */
export const NATIVE_REDIRECT_URI = 'http://localhost:53593/callback';

const SCOPES = ['openid', 'profile', 'email', 'offline_access', API_SCOPE] as const;
const USER_SCOPES = ['openid', 'profile', 'email', API_SCOPE] as const;
const NATIVE_GRANTS = [
  'authorization_code',
  'urn:ietf:params:oauth:grant-type:device_code',
] as const satisfies readonly GrantType[];
/** RFC 6749 appendix A.1, without the colon that would end the user part of a Basic credential. */
const CLIENT_ID = /^[\x21-\x39\x3b-\x7e]{1,255}$/;

/**
 * Builds the specification of one deployment.
 *
 * @param publicUrl - The deployment's public URL, without query, fragment or trailing slash; the
 *   redirect URIs are this string with a path appended and are never normalised.
 * @param clientIds - Identifiers to register.
 *
 * @throws {SallyportError} `SP_CONFIG_INVALID` when the URL or an identifier cannot be registered.
 *
 * @see requirement, tables "IdP applications" and "Authorization server at the IdP"
 */
export function createIdpSpec(
  publicUrl: string,
  clientIds: IdpClientIds,
  { nativeRefreshTokens = false, webJwksUri }: IdpSpecOptions = {},
): IdpSpec {
  assertPublicUrl(publicUrl);
  assertClientIds(clientIds);
  const trusted = { consent: 'trusted' } as const;

  return {
    audience: publicUrl,
    scopes: SCOPES,
    web: {
      ...trusted,
      role: 'web',
      clientId: clientIds.web,
      name: 'Sallyport console',
      grantTypes: ['authorization_code'],
      redirectUris: [`${publicUrl}/callback`],
      postLogoutRedirectUris: [`${publicUrl}/logout`],
      backchannelLogoutUri: publicUrl + PATHS.backchannelLogout,
      ...(webJwksUri === undefined
        ? { tokenEndpointAuthMethod: 'client_secret_basic' }
        : { tokenEndpointAuthMethod: 'private_key_jwt', jwksUri: webJwksUri }),
      pkce: 'optional',
      scopes: SCOPES,
    },
    native: {
      ...trusted,
      role: 'native',
      clientId: clientIds.native,
      name: 'Sallyport command line',
      grantTypes: NATIVE_GRANTS,
      redirectUris: [NATIVE_REDIRECT_URI],
      postLogoutRedirectUris: [],
      tokenEndpointAuthMethod: 'none',
      pkce: 'required',
      scopes: nativeRefreshTokens ? SCOPES : USER_SCOPES,
    },
    service: {
      ...trusted,
      role: 'service',
      clientId: clientIds.service,
      name: 'Sallyport services',
      grantTypes: ['client_credentials'],
      redirectUris: [],
      postLogoutRedirectUris: [],
      tokenEndpointAuthMethod: 'client_secret_basic',
      pkce: 'optional',
      scopes: [API_SCOPE],
    },
  };
}

/** The three applications of a specification, in the order of the requirement's table. */
export function applicationsOf(spec: IdpSpec): readonly IdpApplication[] {
  return [spec.web, spec.native, spec.service];
}

function assertPublicUrl(publicUrl: string): void {
  const url = URL.parse(publicUrl);
  const isUsable =
    url !== null &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.username === '' &&
    url.password === '' &&
    // The parser passes over blanks and line ends; what is registered is the text.
    !/[?#\s\p{Cc}]|\/$/u.test(publicUrl);
  if (isUsable) return;
  throw new SallyportError('SP_CONFIG_INVALID', {
    component: 'idp',
    detail:
      'the public URL: expected one such as https://platform.example.com, without user, blank, query, fragment or slash at its end',
  });
}

function assertClientIds(clientIds: IdpClientIds): void {
  const ids = [clientIds.web, clientIds.native, clientIds.service];
  if (ids.every((id) => CLIENT_ID.test(id)) && listSharedClientIds(clientIds).length === 0) return;
  throw new SallyportError('SP_CONFIG_INVALID', {
    component: 'idp',
    detail:
      'the client identifiers must be three different strings of printable ASCII without space or colon',
  });
}

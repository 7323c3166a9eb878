/**
 * The paths this product answers itself, relative to `publicUrl`.
 *
 * @module
 */

/** Endpoints of the requirement, "Endpoints" table. */
export const PATHS = {
  root: '/',
  me: '/me',
  login: '/login',
  callback: '/callback',
  logout: '/logout',
  /** Own paths live under one prefix that existing charts already route unprotected. */
  own: '/auth/',
  account: '/auth/account',
  session: '/auth/session',
  /** Where a sign-in in a pop-up window ends. */
  signedIn: '/auth/signed-in',
  /** Where the IdP sends logout tokens (OpenID Connect Back-Channel Logout). */
  backchannelLogout: '/auth/backchannel-logout',
  /** The public keys of our own signatures (RFC 7517 section 5). */
  jwks: '/auth/jwks',
  /** RFC 8414: the authorization server of bearer tokens. */
  authorizationServer: '/.well-known/oauth-authorization-server',
  /** OpenID Connect Discovery: the sign-in issuer. */
  openIdConfiguration: '/.well-known/openid-configuration',
  /** What a command-line client signs in with. */
  clientConfig: '/config/v1/flyte_client',
  healthz: '/healthz',
  readyz: '/readyz',
} as const;

/** Where metrics are: on a port of their own and not under `publicUrl`, where it is a path like any other. */
export const METRICS_PATH = '/metrics';

/**
 * Whether a path names one of our endpoints, which no sign-in may end on: it would loop, or start
 * an action by itself.
 *
 * @param path - A path without query, dot segments already resolved.
 */
export function isOwnEndpoint(path: string): boolean {
  if (path === PATHS.account || path === PATHS.signedIn) return false;
  if (path.startsWith(PATHS.own) || path === '/auth') return true;
  return [PATHS.me, PATHS.login, PATHS.callback, PATHS.logout].some(
    (own) => path === own || path.startsWith(`${own}/`),
  );
}

/**
 * The addresses that the web application has to be registered with at the IdP, by the names of their metadata.
 *
 * @param publicOrigin - Of `publicUrl`.
 *
 * @see Requirement, "IdP applications"; OpenID Connect RP-Initiated Logout 1.0 section 3.1, Back-Channel Logout 1.0 section 2.2
 */
export function listRegisteredAddresses(publicOrigin: string): {
  readonly redirect_uri: string;
  readonly post_logout_redirect_uri: string;
  readonly backchannel_logout_uri: string;
} {
  return {
    redirect_uri: publicOrigin + PATHS.callback,
    post_logout_redirect_uri: publicOrigin + PATHS.logout,
    backchannel_logout_uri: publicOrigin + PATHS.backchannelLogout,
  };
}

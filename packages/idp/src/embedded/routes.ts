/**
 * Paths of the embedded IdP. Clients learn them from discovery.
 *
 * Browsers send a cookie to every port of a host, so the IdP's cookies are bound to a prefix that
 * the deployment on the same host does not use.
 *
 * @module
 */

/** Prefix of every path that needs the session cookie. */
export const COOKIE_PATH = '/idp';

/** Paths by the provider's route names. */
export const ROUTES = {
  authorization: '/idp/authorize',
  code_verification: '/idp/device',
  device_authorization: '/idp/device/code',
  end_session: '/idp/logout',
  introspection: '/idp/introspect',
  jwks: '/idp/jwks',
  pushed_authorization_request: '/idp/par',
  revocation: '/idp/revoke',
  token: '/idp/token',
  userinfo: '/idp/userinfo',
} as const;

const INTERACTION_PREFIX = '/idp/interaction/';

/** Path of the sign-in page of one authorization request. */
export function interactionPath(uid: string): string {
  return `${INTERACTION_PREFIX}${uid}`;
}

/** Whether a path is one that {@link interactionPath} makes. */
export function isInteractionPath(path: string): boolean {
  return path.startsWith(INTERACTION_PREFIX);
}

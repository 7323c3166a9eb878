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
  authorization: `${COOKIE_PATH}/authorize`,
  code_verification: `${COOKIE_PATH}/device`,
  device_authorization: `${COOKIE_PATH}/device/code`,
  end_session: `${COOKIE_PATH}/logout`,
  introspection: `${COOKIE_PATH}/introspect`,
  jwks: `${COOKIE_PATH}/jwks`,
  pushed_authorization_request: `${COOKIE_PATH}/par`,
  revocation: `${COOKIE_PATH}/revoke`,
  token: `${COOKIE_PATH}/token`,
  userinfo: `${COOKIE_PATH}/userinfo`,
} as const;

const INTERACTION_PREFIX = `${COOKIE_PATH}/interaction/`;

/** Path of the sign-in page of one authorization request. */
export function interactionPath(uid: string): string {
  return `${INTERACTION_PREFIX}${uid}`;
}

/** Whether a path is one that {@link interactionPath} makes. */
export function isInteractionPath(path: string): boolean {
  return path.startsWith(INTERACTION_PREFIX);
}

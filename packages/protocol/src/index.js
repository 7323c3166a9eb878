/**
 * Words on the wire. Pure: no I/O, no clock, no randomness, no `node:` module.
 *
 * @module
 */
export { readCookies, serializeSetCookie, withoutCookies } from './cookie.js';
export { formatDuration, parseDuration } from './duration.js';
export { selectEndToEndHeaders } from './end-to-end-headers.js';
export { SallyportError } from './errors.js';
export {
  CLAIM_HEADER_PREFIX,
  canonicalHeaderName,
  DEFAULT_AUTHORIZATION_HEADER,
  HOP_BY_HOP_HEADERS,
  IDENTITY_HEADERS,
  isIdentityHeader,
} from './header-names.js';
export { createRouteMatcher } from './match-route.js';
export { isOwnEndpoint, PATHS } from './paths.js';
export {
  parseRedirectTarget,
  REDIRECT_TARGET_MAX_LENGTH,
  selectRedirectTarget,
} from './redirect-target.js';
export { accept, refuse } from './result.js';
export { ROUTE_GROUPS } from './route-groups.js';
//# sourceMappingURL=index.js.map

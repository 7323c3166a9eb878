/**
 * Words on the wire. Pure: no I/O, no clock, no randomness, no `node:` module.
 *
 * @module
 */

export {
  type ApiKey,
  type ApiKeyRefusal,
  describeApiKeyRefusal,
  encodeApiKey,
  parseApiKey,
} from './api-key.ts';
export {
  API_KEY_VARIABLE,
  type ApiKeySecret,
  type ApiKeySecretRefusal,
  findApiKeySecret,
  STRONGER_API_KEY_VARIABLE,
} from './api-key-secret.ts';
export { type Application, listSharedClientIds } from './application-ids.ts';
export {
  type CookieAttributes,
  readCookies,
  serializeSetCookie,
  withoutCookies,
} from './cookie.ts';
export { formatDuration, parseDuration } from './duration.ts';
export { selectEndToEndHeaders } from './end-to-end-headers.ts';
export { SallyportError, type SallyportErrorCode, type SallyportErrorOptions } from './errors.ts';
export { escapeHtml } from './escape-html.ts';
export {
  CLAIM_HEADER_PREFIX,
  canonicalHeaderName,
  DEFAULT_AUTHORIZATION_HEADER,
  type HeaderPair,
  HOP_BY_HOP_HEADERS,
  IDENTITY_HEADERS,
  VERDICT_KEY_HEADER,
} from './header-names.ts';
export { Html, type HtmlDocument, type HtmlValue, html, renderDocument } from './html.ts';
export {
  classifyIdpRefusal,
  type IdpAnswer,
  type IdpRefusalCause,
  type IdpRefusalProbes,
} from './idp-refusal.ts';
export { isLoopbackHost, isOnThisMachine } from './loopback.ts';
export { createRouteMatcher, type RouteMatcher } from './match-route.ts';
export { isOwnEndpoint, listRegisteredAddresses, METRICS_PATH, PATHS } from './paths.ts';
export type { JsonValue, Principal, UserRecord } from './principal.ts';
export { escapeUnprintable, withoutUnprintable } from './printable.ts';
export {
  formatConnectError,
  formatProblemDocument,
  formatRefusal,
  listGrpcStatus,
  PROBLEM_CONTENT_TYPE,
  type ProblemDocument,
  type RefusalText,
  RPC_CODES,
  type RpcCode,
} from './problem-document.ts';
export {
  type LandingPolicy,
  parseRedirectTarget,
  REDIRECT_TARGET_MAX_LENGTH,
  type RedirectPolicy,
  type RedirectRefusal,
  selectRedirectTarget,
} from './redirect-target.ts';
export {
  carriedHeaderName,
  isRemovedHeader,
  listRemovedHeaders,
  type RemovedHeaders,
} from './removed-headers.ts';
export { accept, type Result, refuse } from './result.ts';
export { type ForwardCredential, ROUTE_GROUPS, type RouteGroup } from './route-groups.ts';
export { HEALTH_PATHS, RPC_PATHS } from './rpc-paths.ts';
export {
  isSharedCacheHeader,
  SHARED_CACHE_HEADERS,
  selectUnsharedHeaders,
  withoutSharedCaching,
} from './shared-cache.ts';

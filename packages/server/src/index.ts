/**
 * The admin service's authentication: the relying party, sessions and the check endpoint.
 *
 * @module
 */

export { type AdminServer, createAdminServer } from './admin-server.ts';
export type { AdminServerOptions } from './admin-server-options.ts';
export type { BearerSettings, IssuerSettings } from './bearer/bearer-settings.ts';
export { createDisabledServer, type DisabledServerOptions } from './disabled-server.ts';
export type { ListenerHandlers } from './front-part.ts';
export { Readiness, type WaitedFor, type WaitingFor } from './health/readiness.ts';
export type { ClientCredential } from './issuer/relying-party/client-authentication.ts';
export { type ClientKey, parseClientKey } from './issuer/relying-party/client-key.ts';
export { type ClientKeys, createClientKeys } from './issuer/relying-party/client-keys.ts';
export {
  createRelyingParty,
  type RelyingPartyOptions,
} from './issuer/relying-party/openid-client-relying-party.ts';
export type { RelyingParty } from './issuer/relying-party/relying-party.ts';
export { createPinoLog, type LogThreshold } from './log/pino-log.ts';
export type { PublicClientConfig } from './metadata/public-client-config.ts';
export type { MetadataOptions } from './metadata/rest-door.ts';
export { nameBrowser } from './page/browser-name.ts';
export { PAGE_THEME } from './page/page.ts';
export { KeyRing } from './session/key-ring.ts';
export { addRingKey, createRing, parseRing } from './session/key-ring-document.ts';
export { createKeyRingFile, rotateKeyRingFile, unusableKeyRing } from './session/key-ring-file.ts';
export {
  createLocalSessionStore,
  type LocalSessionStore,
  type LocalSessionStoreOptions,
} from './session/local/local-session-store.ts';
export { type OpenedPage, PrincipalSessions } from './session/principal-sessions.ts';
export {
  openRedisSessionStore,
  type RedisSessionStoreOptions,
} from './session/redis/redis-session-store.ts';
export { formatSessionId, parseSessionId } from './session/session-id.ts';
export { type Session, sessionEnd } from './session/session-record.ts';
export type { EndReason, SessionStore } from './session/session-store.ts';
export { type SharedSessionStore, shareSessionStore } from './session/shared-session-store.ts';
export type { Schedule } from './time/schedule.ts';

/**
 * The admin service's authentication: the relying party, sessions and the check endpoint.
 *
 * @module
 */

export {
  type AdminServer,
  type AdminServerOptions,
  createAdminServer,
  createDisabledServer,
  type DisabledServerOptions,
  type GateRequest,
} from './admin-server.ts';
export type { BearerSettings, IssuerSettings } from './bearer/bearer-settings.ts';
export type { AuthorizationServerDocument } from './issuer/authorization-server-document.ts';
export {
  type AuthorizationServerMetadata,
  createMetadataSource,
  type MetadataSource,
  type MetadataSourceOptions,
} from './issuer/authorization-server-metadata.ts';
export type { Schedule } from './issuer/idp-metadata.ts';
export type { PublicClientConfig } from './metadata/public-client-config.ts';
export type { MetadataOptions } from './metadata/rest-door.ts';
export {
  type Audit,
  type AuditEvent,
  type AuditOrigin,
  type AuditPrincipal,
  createAudit,
  NO_REQUEST,
  NOBODY,
} from './observe/audit.ts';
export { type AuditLog, type AuditLogOptions, openAuditLog } from './observe/audit-log.ts';
export type { Log, LogFields, LogLevel, LogValue } from './observe/log.ts';
export { describeFailure } from './observe/log.ts';
export { type BoundedLog, boundLog } from './observe/log-bounds.ts';
export {
  createMetrics,
  type Metrics,
  type MetricsOptions,
  type Occupancy,
  type ServerReadings,
} from './observe/metrics.ts';
export {
  type ConfigurationCounts,
  createConfigurationCounts,
} from './observe/metrics-configuration.ts';
export { CounterFamily, type Metric, readGauge, type Sample } from './observe/metrics-family.ts';
export { createPinoLog, type LogThreshold } from './observe/pino-log.ts';
export { loadPrometheus, type Prometheus } from './observe/prometheus-loading.ts';
export {
  createVerdictLog,
  type VerdictLog,
  type VerdictLogOptions,
} from './observe/sampled-verdicts.ts';
export { traceFetch } from './observe/trace-fetch.ts';
export { traceStore } from './observe/trace-store.ts';
export {
  errorType,
  type RequestSpan,
  type SpanAttributes,
  type SpanDescription,
  type Tracer,
  type TraceSpan,
} from './observe/tracer.ts';
export {
  combineObservers,
  type DoorName,
  type VerdictObserver,
} from './observe/verdict-observer.ts';
export { nameBrowser } from './page/browser-name.ts';
export { Html, html } from './page/html.ts';
export { PAGE_THEME } from './page/page.ts';
export { Readiness, type WaitedFor, type WaitingFor } from './readiness.ts';
export { KeyRing } from './session/key-ring.ts';
export { createKeyRingFile, rotateKeyRingFile } from './session/key-ring-file.ts';
export {
  createLocalSessionStore,
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
export type { ClientCredential } from './sign-in/client-authentication.ts';
export { type ClientKey, parseClientKey } from './sign-in/client-key.ts';
export { type ClientKeys, createClientKeys } from './sign-in/client-keys.ts';
export {
  createRelyingParty,
  type RelyingPartyOptions,
} from './sign-in/openid-client-relying-party.ts';
export type { RelyingParty } from './sign-in/relying-party.ts';

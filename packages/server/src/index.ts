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
  type GateRequest,
} from './admin-server.ts';
export type { Log, LogFields, LogLevel } from './observe/log.ts';
export { describeFailure } from './observe/log.ts';
export { createPinoLog, type LogThreshold } from './observe/pino-log.ts';
export { Html, html } from './page/html.ts';
export { PAGE_THEME } from './page/page.ts';
export { createKeyRingFile, rotateKeyRingFile } from './session/key-ring-file.ts';
export {
  createLocalSessionStore,
  type LocalSessionStoreOptions,
} from './session/local-session-store.ts';
export type { Schedule } from './sign-in/idp-metadata.ts';
export {
  createRelyingParty,
  type RelyingPartyOptions,
} from './sign-in/openid-client-relying-party.ts';
export type { RelyingParty } from './sign-in/relying-party.ts';

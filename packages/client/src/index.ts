/**
 * How people, services and pods obtain, keep and attach tokens.
 *
 * @module
 */

export {
  type AuthenticatedFetchOptions,
  createAuthenticatedFetch,
} from './attach/authenticated-fetch.ts';
export type { Attachment } from './attach/platform-endpoint.ts';
export { TokenRefusedError } from './attach/token-refused-error.ts';
export { type Client, type ClientPorts, createClient } from './create-client.ts';
export type { Grant, GrantKind, GrantOptions, TokenRefusal } from './grant.ts';
export {
  clientSecretBasic,
  clientSecretPost,
  publicClient,
} from './grants/client-authentication.ts';
export {
  type ClientCredentialsOptions,
  createClientCredentialsGrant,
} from './grants/client-credentials.ts';
export { createDeviceCodeGrant, type DeviceCodeOptions } from './grants/device-code.ts';
export {
  createExternalCommandGrant,
  type ExternalCommandOptions,
} from './grants/external-command.ts';
export { createPkceGrant, type PkceOptions } from './grants/pkce.ts';
export type {
  GrantPorts,
  InteractivePorts,
  SecretPorts,
  SignInPrompt,
  Wait,
} from './grants/ports.ts';
export { type Revocation, type RevocationRequest, revokeTokens } from './grants/revocation.ts';
export {
  describeSubject,
  needsMetadata,
  selectGrant,
  type TokenSubject,
} from './grants/select-grant.ts';
export { type SentForm, withoutSecrets } from './grants/sent-secrets.ts';
export {
  createServiceAccountTokenGrant,
  type ServiceAccountTokenOptions,
} from './grants/service-account-token.ts';
export { createFileTokenLock, type FileTokenLockOptions } from './lock/file-token-lock.ts';
export type { LockLease, LockWait, TokenLock } from './lock/token-lock.ts';
export { findPortHolder, type PortHolder } from './loopback/port-holder.ts';
export {
  createMetadataClient,
  type MetadataClient,
  type MetadataClientOptions,
} from './metadata/create-metadata-client.ts';
export type { PlatformMetadata } from './platform-metadata.ts';
export type {
  AuthType,
  ClientSecretSource,
  ClientSettings,
  LoadedClientSettings,
  SettingOrigin,
} from './settings/client-settings.ts';
export { type PlatformEndpoint, parseEndpoint } from './settings/endpoint.ts';
export {
  type ClientBlock,
  type ClientSettingsSources,
  loadClientSettings,
} from './settings/load-client-settings.ts';
export {
  createServiceTokenSource,
  type ServiceTokenSource,
  type ServiceTokenSourceOptions,
  type ServiceTokenStatus,
} from './source/create-service-token-source.ts';
export { createTokenSource, type TokenSourceOptions } from './source/create-token-source.ts';
export { forgetTokens } from './source/forget-tokens.ts';
export { isFresh, isLiving } from './source/freshness.ts';
export type { Schedule } from './source/schedule.ts';
export { createFileTokenStore } from './store/file-token-store.ts';
export type { Keyring } from './store/keyring.ts';
export { createMemoryTokenStore } from './store/memory-token-store.ts';
export { createOsKeyring, type OsKeyringOptions } from './store/os-keyring.ts';
export {
  type SelectTokenStoreOptions,
  selectTokenStore,
  type TokenStoreChoice,
  type TokenStoreNotice,
} from './store/select-token-store.ts';
export { tokenKeyId } from './store/token-key-id.ts';
export type { TokenSet } from './token-set.ts';
export type { GetTokenOptions, TokenSource } from './token-source.ts';
export type { TokenKey, TokenStore } from './token-store.ts';

/**
 * Configuration of Sallyport: sources and precedence, problems with file and line, secret files.
 *
 * @module
 */

export { listAudienceSpellings } from './audience.ts';
export type { BearerConfig, BearerIssuerConfig, SignatureAlgorithm } from './bearer-config.ts';
export { type ConfigChanges, listChanges } from './changes.ts';
export {
  type ClientConfig,
  type ClientConfigSources,
  readClientConfig,
} from './client-config.ts';
export {
  type ClientSecretFile,
  explainRefusedSecret,
  judgeClientSecret,
  readClientSecretFile,
  type SecretFinding,
  type SecretFindingCode,
  type SecretPlace,
} from './client-secret-file.ts';
export type {
  AccessConfig,
  AdminClientConfig,
  AuthConfig,
  ClientAuthenticationMethod,
  ClientAuthType,
  Config,
  ExecutionsConnectionConfig,
  InjectionConfig,
  LogLevel,
  PushedAuthorization,
  SecretsConfig,
  ServiceAuthConfig,
  SessionConfig,
} from './config.ts';
export { parseYaml, type YamlFile } from './file/parse-yaml.ts';
export { readInjectionConfig } from './injection-config.ts';
export { WORKERS_MAX } from './kinds/worker-count.ts';
export { type ListenConfig, readListenConfig } from './listen-config.ts';
export { type LoadedConfig, loadConfig } from './load-config.ts';
export type { MetricsConfig } from './metrics-config.ts';
export { mayConnect } from './plain-http.ts';
export {
  type ConfigProblem,
  describeFound,
  formatConfigProblem,
  orderProblems,
} from './problems.ts';
export { redactConfig } from './redact-config.ts';
export type { RedisConfig, RedisMode } from './redis-config.ts';
export type { ConfigSources, Origin, SettingVariable } from './resolve-settings.ts';
export { NOTHING_TO_ENTER } from './rules/service-app.ts';
export { type SameSitePolicy, selectSameSite } from './same-site.ts';
export type { Consumer } from './schema/schema.ts';
export {
  findReaders,
  type KeyFileOptions,
  openKeyFile,
  openSecretFile,
  type RereadTrigger,
  rereadEvery,
  type SecretFile,
  type SecretFileOptions,
} from './secret-file.ts';
export { SecretText } from './secret-text.ts';
export { isStandInText, STAND_IN_TEXTS } from './stand-in-texts.ts';
export type { TracesConfig } from './traces-config.ts';

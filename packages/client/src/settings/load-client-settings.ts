/**
 * From flags, environment and file to a client's settings, or to everything that is wrong with them.
 *
 * @module
 */

import {
  type ClientConfig,
  type ConfigProblem,
  NOTHING_TO_ENTER,
  type Origin,
  orderProblems,
  readClientConfig,
} from '@sallyport/config';
import { accept, type Result, refuse } from '@sallyport/protocol';
import { findApiKey, findMissingApiKey } from './api-key-variable.ts';
import type {
  AuthType,
  ClientSettings,
  LoadedClientSettings,
  SettingOrigin,
} from './client-settings.ts';
import { describeEndpoint } from './describe-endpoint.ts';
import { type FoundSecret, findClientSecret } from './find-client-secret.ts';
import { isStronger } from './precedence.ts';
import { DEFAULT_BRAND, listVariables } from './variables.ts';

/** The block of the file that a client reads. */
export type ClientBlock = 'admin' | 'union.auth' | 'executions.app.adminClient.connection';

/** Where settings come from. */
export interface ClientSettingsSources {
  /** The configuration file, read already. Untrusted text. */
  readonly file?: { readonly path: string; readonly text: string };
  /** Only the documented variables are looked at; an empty one counts as not set. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By dotted key, such as `admin.endpoint`; `undefined` counts as not given. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** Brand prefix of the variables, capitals; `CORE` when absent. `FLYTE` is read as well. */
  readonly brand?: string;
  /** `admin` when absent; internal services name theirs. Endpoint and TLS are always `admin`'s. */
  readonly block?: ClientBlock;
  /**
   * Whether the program itself finds out whether a person can be asked, as the command does. Otherwise the default
   * way, a sign-in by browser, is a problem in a Kubernetes pod: what is missing there is the API key.
   */
  readonly findsPerson?: boolean;
  /** The platform's address where no source names one; the admin service's own file has it as `publicUrl`. */
  readonly endpointByDefault?: string | undefined;
}

/**
 * Loads a client's settings: flag, then environment, then file, then default.
 *
 * Variables of several names may give one setting as long as they agree. A client secret or API key
 * in a stronger source than `admin.authType` decides how tokens are obtained, so that a build job
 * with credentials in its environment never opens a browser because of a file. Reads no file: secret
 * files are opened when they are needed.
 *
 * @returns Otherwise every problem at once. No problem shows a secret.
 */
export function loadClientSettings(
  sources: ClientSettingsSources,
): Result<LoadedClientSettings, readonly ConfigProblem[]> {
  const { env, flags, file, brand = DEFAULT_BRAND, block = 'admin' } = sources;
  const read = readClientConfig({
    env,
    flags,
    ...(file === undefined ? {} : { file }),
    variables: listVariables(brand),
  });
  const problems: ConfigProblem[] = [...read.problems];
  // Two names of one client are reported for the block that is read.
  const warnings: ConfigProblem[] = read.warnings.filter(
    ({ key }) => !key.endsWith('.clientId') || key === `${block}.clientId`,
  );
  const settings =
    block === 'admin'
      ? buildPersonOrApplication(read, sources, problems, warnings)
      : buildService(read, sources, block, problems, warnings);
  if (settings === undefined || problems.length > 0) return refuse(orderProblems(problems));
  return accept({
    settings: settings.value,
    warnings: orderProblems(warnings),
    origins: listOrigins(read, settings.apiKeyVariable),
  });
}

interface Built {
  readonly value: ClientSettings;
  readonly apiKeyVariable?: string;
}

function buildPersonOrApplication(
  read: ClientConfig,
  { env, brand = DEFAULT_BRAND, findsPerson = false, endpointByDefault }: ClientSettingsSources,
  problems: ConfigProblem[],
  warnings: ConfigProblem[],
): Built | undefined {
  const { admin } = read.config;
  const originOf = (key: string): Origin => read.origins.get(key) ?? 'default';
  const secret = findClientSecret(read, env, brand, problems);
  const authOrigin = originOf('admin.authType');
  // A way that is named as strongly as the API key stands, and the key is not even looked at.
  const found = isStronger('env', authOrigin) ? findApiKey(read, env, problems) : undefined;
  const apiKey = secret.origin === 'flag' ? undefined : found;
  if (apiKey !== undefined && secret.origin === 'env')
    problems.push({
      file: 'environment',
      line: undefined,
      key: 'apiKey',
      variable: apiKey.variable,
      found: 'an API key and a client secret',
      expected: `one of them alone, or ${brand}_CREDENTIALS_AUTH_MODE: basic, which means the client secret`,
    });
  const authType = selectAuthType(read, secret, apiKey !== undefined);
  const isByDefault = authType === 'Pkce' && authOrigin === 'default';
  const missingKey = isByDefault && !findsPerson ? findMissingApiKey(env) : undefined;
  if (missingKey !== undefined) {
    problems.push(missingKey);
    return undefined;
  }
  const terms = { isRequired: true, byDefault: endpointByDefault };
  const endpoint = apiKey?.endpoint ?? describeEndpoint(read, terms, problems, warnings);
  const isJudged = !read.unsound.has('admin.authType');
  if (
    isJudged &&
    authType === 'ClientSecret' &&
    admin.clientId === '' &&
    !read.unsound.has('admin.clientId')
  )
    problems.push(missing(read, 'admin.clientId', 'a client ID, which ClientSecret needs', brand));
  if (authType === 'ExternalCommand' && admin.command.length === 0)
    problems.push(missing(read, 'admin.command', 'a program, which ExternalCommand needs', brand));
  if (authType !== 'ClientSecret' && authType !== 'ApiKey' && secret.origin === 'env')
    warnings.push({
      file: 'environment',
      line: undefined,
      key: 'admin.authType',
      found: authType,
      expected: 'ClientSecret: the client secret in the environment is not used',
    });
  warnOfSkippedVerification(read, warnings);
  if (endpoint === undefined) return undefined;
  const value: ClientSettings = {
    ...fromAdmin(read, authType),
    endpoint,
    clientId: apiKey?.clientId ?? admin.clientId,
    clientSecret: apiKey?.clientSecret ?? (authType === 'ClientSecret' ? secret.source : undefined),
  };
  return apiKey === undefined ? { value } : { value, apiKeyVariable: apiKey.variable };
}

function selectAuthType(read: ClientConfig, secret: FoundSecret, hasApiKey: boolean): AuthType {
  if (hasApiKey) return 'ApiKey';
  const origin = read.origins.get('admin.authType') ?? 'default';
  if (secret.origin !== 'default' && isStronger(secret.origin, origin)) return 'ClientSecret';
  return origin === 'default' ? 'Pkce' : read.config.admin.authType;
}

function buildService(
  read: ClientConfig,
  { brand = DEFAULT_BRAND, endpointByDefault }: ClientSettingsSources,
  block: Exclude<ClientBlock, 'admin'>,
  problems: ConfigProblem[],
  warnings: ConfigProblem[],
): Built {
  const { union, executions } = read.config;
  const own =
    block === 'union.auth'
      ? {
          ...union.auth,
          authorizationHeader: union.auth.authorizationMetadataKey,
          refreshWindowMs: union.auth.tokenRefreshWindowMs,
        }
      : {
          ...executions.app.adminClient.connection,
          enable: true,
          refreshWindowMs: read.config.admin.tokenRefreshWindowMs,
        };
  // On the data plane both are left out, and the platform names both; scopes alone are the default.
  const isLearned =
    own.tokenUrl === '' && (read.origins.get(`${block}.scopes`) ?? 'default') === 'default';
  const endpoint = describeEndpoint(
    read,
    { isRequired: own.enable && own.tokenUrl === '', byDefault: endpointByDefault },
    problems,
    warnings,
  );
  if (own.enable && own.clientId === '' && !read.unsound.has(`${block}.clientId`))
    problems.push(missing(read, `${block}.clientId`, 'the client ID of the service app', brand));
  judgeMatrix(read, block, own.enable, warnings);
  warnOfSkippedVerification(read, warnings);
  return {
    value: {
      ...fromAdmin(read, 'ClientSecret'),
      isEnabled: own.enable,
      isService: true,
      endpoint,
      clientId: own.clientId,
      clientSecret: {
        from: 'file',
        path: own.clientSecretLocation,
        key: `${block}.clientSecretLocation`,
      },
      scopes: own.scopes.length > 0 && !isLearned ? own.scopes : undefined,
      tokenUrl: own.tokenUrl,
      authorizationHeader: own.authorizationHeader,
      refreshWindowMs: own.refreshWindowMs,
    },
  };
}

/**
 * Warns where `union.auth.enable` and `server.security.useAuth` contradict each other. The latter stands in the file
 * of the control plane, which a service may share; elsewhere it is taken to be true.
 */
function judgeMatrix(
  read: ClientConfig,
  block: ClientBlock,
  isEnabled: boolean,
  warnings: ConfigProblem[],
): void {
  const { useAuth } = read.config.server.security;
  if (isEnabled && !useAuth)
    warnings.push({ ...read.placeOf(NOTHING_TO_ENTER.key), ...NOTHING_TO_ENTER });
  if (!isEnabled && useAuth)
    warnings.push({
      ...read.placeOf(`${block}.enable`),
      key: `${block}.enable`,
      found: 'false',
      expected: 'true: without it internal services receive 401',
    });
}

function fromAdmin(
  read: ClientConfig,
  authType: AuthType,
): Omit<ClientSettings, 'clientId' | 'clientSecret' | 'endpoint'> {
  const { admin, dangerouslyAllowPlainHttpTo } = read.config;
  return {
    isEnabled: true,
    isService: false,
    authType,
    insecureSkipVerify: admin.insecureSkipVerify,
    caCertFilePath: admin.caCertFilePath,
    dangerouslyAllowPlainHttpTo,
    scopes: admin.scopes.length > 0 ? admin.scopes : undefined,
    audience: admin.audience,
    useAudienceFromAdmin: admin.useAudienceFromAdmin,
    tokenUrl: admin.tokenUrl,
    authorizationHeader: admin.authorizationHeader,
    refreshWindowMs: admin.tokenRefreshWindowMs,
    command: admin.command,
    serviceAccountToken: {
      path: admin.serviceAccountTokenLocation,
      use: admin.serviceAccountTokenUse,
    },
    disableKeyring: admin.disableKeyring,
    pkceTimeoutMs: admin.pkceConfig.timeoutMs,
    deviceTimeoutMs: admin.deviceFlowConfig.timeoutMs,
  };
}

function missing(read: ClientConfig, key: string, expected: string, brand: string): ConfigProblem {
  const { file, line } = read.placeOf(key);
  const [variable] = listVariables(brand).get(key) ?? [];
  return {
    file,
    line,
    key,
    ...(variable === undefined ? {} : { variable: variable.name }),
    found: 'nothing',
    expected,
  };
}

function warnOfSkippedVerification(read: ClientConfig, warnings: ConfigProblem[]): void {
  const key = 'admin.insecureSkipVerify';
  if (read.config.admin.insecureSkipVerify)
    warnings.push({
      ...read.placeOf(key),
      key,
      found: 'true',
      expected:
        'false: any certificate is accepted, so an attacker on the network path can take the tokens',
    });
}

function listOrigins(
  read: ClientConfig,
  apiKeyVariable: string | undefined,
): ReadonlyMap<string, SettingOrigin> {
  const origins = new Map<string, SettingOrigin>();
  for (const [key, origin] of read.origins) {
    if (!/^(?:admin|union|executions)\.|^dangerously/.test(key)) continue;
    const { file, line, variable } = read.placeOf(key);
    const place = variable ?? (line === undefined ? file : `${file}:${line}`);
    origins.set(key, { origin, source: origin === 'default' ? 'default' : place });
  }
  if (apiKeyVariable !== undefined)
    origins.set('apiKey', { origin: 'env', source: apiKeyVariable });
  return origins;
}

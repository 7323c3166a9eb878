/**
 * Environment variables of clients: the brand's own, and those that existing installations set.
 *
 * @module
 */

import type { SettingVariable } from '@sallyport/config';
import { API_KEY_VARIABLE, STRONGER_API_KEY_VARIABLE } from '@sallyport/protocol';

/** Brand prefix of the requirement (`CORE_CREDENTIALS_CLIENT_ID`). */
export const DEFAULT_BRAND = 'CORE';

/** Other brands whose variables existing installations have. */
const EXISTING_BRANDS = ['FLYTE'];

/** Words of `…_CREDENTIALS_AUTH_MODE`, lower case, beside the file's own. */
const AUTH_MODES: ReadonlyMap<string, string> = new Map([
  ['standard', 'Pkce'],
  ['pkce', 'Pkce'],
  ['basic', 'ClientSecret'],
  ['client_credentials', 'ClientSecret'],
  ['clientsecret', 'ClientSecret'],
  ['external_process', 'ExternalCommand'],
  ['externalcommand', 'ExternalCommand'],
  ['deviceflow', 'DeviceFlow'],
  ['device_flow', 'DeviceFlow'],
  ['serviceaccounttoken', 'ServiceAccountToken'],
]);

const readAuthMode = (text: string): unknown => AUTH_MODES.get(text.toLowerCase()) ?? text;
const readBoolean = (text: string): unknown =>
  /^(?:true|1)$/i.test(text) ? true : /^(?:false|0)$/i.test(text) ? false : text;

interface BrandVariable {
  readonly key: string;
  readonly suffix: string;
  readonly fromText?: (text: string) => unknown;
}

/** Names after the brand. Sections as flytekit has them; both words for the platform's address. */
const BRAND_VARIABLES: readonly BrandVariable[] = [
  { key: 'admin.endpoint', suffix: 'PLATFORM_URL' },
  { key: 'admin.insecure', suffix: 'PLATFORM_INSECURE', fromText: readBoolean },
  {
    key: 'admin.insecureSkipVerify',
    suffix: 'PLATFORM_INSECURE_SKIP_VERIFY',
    fromText: readBoolean,
  },
  { key: 'admin.caCertFilePath', suffix: 'PLATFORM_CA_CERT_FILE_PATH' },
  { key: 'admin.authType', suffix: 'CREDENTIALS_AUTH_MODE', fromText: readAuthMode },
  { key: 'admin.clientId', suffix: 'CREDENTIALS_CLIENT_ID' },
  { key: 'admin.clientSecretLocation', suffix: 'CREDENTIALS_CLIENT_SECRET_LOCATION' },
  { key: 'admin.clientSecretEnvVar', suffix: 'CREDENTIALS_CLIENT_SECRET_ENV_VAR' },
  { key: 'admin.scopes', suffix: 'CREDENTIALS_SCOPES' },
  { key: 'admin.audience', suffix: 'CREDENTIALS_AUDIENCE' },
  { key: 'admin.command', suffix: 'CREDENTIALS_COMMAND' },
  { key: 'admin.tokenUrl', suffix: 'CREDENTIALS_TOKEN_URL' },
  { key: 'admin.authorizationHeader', suffix: 'CREDENTIALS_AUTHORIZATION_HEADER' },
  { key: 'admin.authType', suffix: 'AUTH_TYPE', fromText: readAuthMode },
  { key: 'admin.command', suffix: 'AUTH_COMMAND' },
];

/** Keys whose variable is the brand and the dotted key (`FLYTE_ADMIN_CLIENTID`), as flyte-sdk has it. */
const DOTTED_KEYS = [
  'admin.endpoint',
  'admin.authType',
  'admin.insecure',
  'admin.insecureSkipVerify',
  'admin.caCertFilePath',
  'admin.clientId',
  'admin.clientSecretLocation',
  'admin.clientSecretEnvVar',
  'admin.scopes',
  'admin.useAudienceFromAdmin',
  'admin.audience',
  'admin.tokenUrl',
  'admin.authorizationHeader',
  'admin.tokenRefreshWindow',
  'admin.command',
  'admin.serviceAccountTokenLocation',
  'admin.serviceAccountTokenUse',
  'admin.disableKeyring',
  'admin.pkceConfig.timeout',
  'admin.deviceFlowConfig.timeout',
];

const BOOLEAN_KEYS: ReadonlySet<string> = new Set([
  'admin.insecure',
  'admin.insecureSkipVerify',
  'admin.useAudienceFromAdmin',
  'admin.disableKeyring',
]);

/**
 * The service app's client ID on the data plane. A process that has `INTERNAL_CLIENT_ID`, too, is of the
 * control plane, so this one yields: to that, and to whatever else is named for one client.
 */
const DATA_PLANE_CLIENT_ID = 'AUTH_CLIENT_ID';

/** Variables of the deployment (requirement, "Deployment variables") that services read. */
const DEPLOYMENT_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  dangerouslyAllowPlainHttpTo: ['SALLYPORT_DANGEROUSLY_ALLOW_PLAIN_HTTP_TO'],
  'admin.clientId': ['INTERNAL_CLIENT_ID', DATA_PLANE_CLIENT_ID],
  'union.auth.clientId': ['INTERNAL_CLIENT_ID', DATA_PLANE_CLIENT_ID],
  'union.auth.tokenUrl': ['AUTH_TOKEN_URL'],
  'executions.app.adminClient.connection.clientId': ['INTERNAL_CLIENT_ID', DATA_PLANE_CLIENT_ID],
  'executions.app.adminClient.connection.tokenUrl': ['AUTH_TOKEN_URL'],
};

/** Variables that hold an API key, the winning one first: what was injected into a pod, then the rest. */
export const API_KEY_VARIABLES: readonly string[] = [
  STRONGER_API_KEY_VARIABLE,
  API_KEY_VARIABLE,
  'FLYTE_API_KEY',
];

/** Set by Kubernetes in every container of a pod. */
export const POD_VARIABLE = 'KUBERNETES_SERVICE_HOST';

/** Variables that hold a client secret itself. */
export function listSecretVariables(brand: string): readonly string[] {
  return listBrands(brand).map((name) => `${name}_CREDENTIALS_CLIENT_SECRET`);
}

/** Every variable of every key, by dotted key. */
export function listVariables(brand: string): ReadonlyMap<string, readonly SettingVariable[]> {
  const byKey = new Map<string, SettingVariable[]>();
  const add = (key: string, variable: SettingVariable): void => {
    byKey.set(key, [...(byKey.get(key) ?? []), variable]);
  };
  for (const name of listBrands(brand)) {
    for (const { key, suffix, fromText } of BRAND_VARIABLES)
      add(key, { name: `${name}_${suffix}`, ...(fromText === undefined ? {} : { fromText }) });
    for (const key of DOTTED_KEYS) {
      const fromText =
        key === 'admin.authType' ? readAuthMode : BOOLEAN_KEYS.has(key) ? readBoolean : undefined;
      const dotted = `${name}_${key.replaceAll('.', '_').toUpperCase()}`;
      add(key, { name: dotted, ...(fromText === undefined ? {} : { fromText }) });
    }
  }
  for (const [key, names] of Object.entries(DEPLOYMENT_VARIABLES))
    for (const name of names)
      add(key, name === DATA_PLANE_CLIENT_ID ? { name, yields: true } : { name });
  return byKey;
}

function listBrands(brand: string): readonly string[] {
  return [...new Set([brand, ...EXISTING_BRANDS])];
}

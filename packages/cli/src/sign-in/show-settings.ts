/**
 * A client's settings with where each came from; no secret among them.
 *
 * @module
 */

import type { ClientSettings, LoadedClientSettings } from '@sallyport/client';
import { formatDuration } from '@sallyport/protocol';
import type { ShownSetting } from './platform.ts';

const FROM_PLATFORM = 'from the platform';

/** Every setting, as text. `apiKey` and client secret are only said to be there. */
const SHOWN: readonly (readonly [key: string, show: (settings: ClientSettings) => string])[] = [
  ['admin.endpoint', ({ endpoint }) => endpoint?.origin ?? ''],
  ['admin.authType', ({ authType }) => authType],
  [
    'admin.insecure',
    ({ endpoint }) => String(endpoint?.isInsecure === true && !endpoint.isLoopback),
  ],
  ['admin.insecureSkipVerify', ({ insecureSkipVerify }) => String(insecureSkipVerify)],
  ['admin.caCertFilePath', ({ caCertFilePath }) => caCertFilePath || 'none'],
  [
    'dangerouslyAllowPlainHttpTo',
    ({ dangerouslyAllowPlainHttpTo: origins }) => origins.join(' ') || 'none',
  ],
  ['admin.clientId', ({ clientId }) => clientId || FROM_PLATFORM],
  ['admin.clientSecretLocation', ({ clientSecret }) => showSecret(clientSecret)],
  ['admin.scopes', ({ scopes }) => scopes?.join(' ') ?? FROM_PLATFORM],
  ['admin.audience', ({ audience }) => audience || FROM_PLATFORM],
  ['admin.tokenUrl', ({ tokenUrl }) => tokenUrl || FROM_PLATFORM],
  ['admin.authorizationHeader', ({ authorizationHeader }) => authorizationHeader || FROM_PLATFORM],
  ['admin.tokenRefreshWindow', ({ refreshWindowMs }) => formatDuration(refreshWindowMs)],
  ['admin.command', ({ command }) => command[0] ?? 'none'],
  ['admin.disableKeyring', ({ disableKeyring }) => String(disableKeyring)],
  ['admin.pkceConfig.timeout', ({ pkceTimeoutMs }) => formatDuration(pkceTimeoutMs)],
  ['admin.deviceFlowConfig.timeout', ({ deviceTimeoutMs }) => formatDuration(deviceTimeoutMs)],
];

/** Lists them in the order of the documentation. */
export function showSettings({ settings, origins }: LoadedClientSettings): readonly ShownSetting[] {
  const shown = SHOWN.map(([key, show]) => ({
    key,
    value: show(settings),
    origin: describeOrigin(origins.get(key)),
  }));
  const apiKey = origins.get('apiKey');
  if (apiKey === undefined) return shown;
  return [...shown, { key: 'apiKey', value: 'given', origin: describeOrigin(apiKey) }];
}

type SettingOrigin = ReturnType<LoadedClientSettings['origins']['get']>;

function describeOrigin(given: SettingOrigin): string {
  if (given === undefined) return 'default';
  return given.origin === 'env' ? `variable ${given.source}` : given.source;
}

function showSecret(secret: ClientSettings['clientSecret']): string {
  if (secret === undefined) return 'not used';
  return secret.from === 'file' ? secret.path : 'given, not shown';
}

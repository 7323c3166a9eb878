/**
 * Golden renderings of the settings, typed from the requirement's tables: one assertion a row.
 *
 * @module
 */

import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import { type ChartName, findObject, HELM, render } from './helm.ts';

/** The file in a ConfigMap of a chart, parsed. */
async function read(chart: ChartName, name: string, file: string): Promise<unknown> {
  const namespace = chart === 'sallyport' ? 'cloud-cp' : 'cloud';
  const { data } = findObject(await render({ chart, namespace }), 'ConfigMap', name);
  return parse((data as Record<string, string>)[file] ?? '');
}

/** The value at a dotted key; `undefined` where there is none. */
function at(tree: unknown, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], tree);
}

const ISSUER = 'https://idp.example.com';
const TOKEN_URL = 'https://idp.example.com/token';

describe.skipIf(HELM.isLeftOut)('Settings of the charts', () => {
  let settings: Readonly<Record<'admin service' | 'control plane' | 'data plane', unknown>>;
  beforeAll(async () => {
    await programPath('helm');
    const services = 'sallyport-dataplane-services';
    settings = {
      'admin service': await read('sallyport', 'sallyport', 'sallyport.yaml'),
      'control plane': await read('sallyport', 'sallyport-services', 'services.yaml'),
      'data plane': await read('sallyport-dataplane', services, 'services.yaml'),
    };
  }, BUILD_TIMEOUT_MS);

  it.each([
    ['admin service', 'publicUrl', 'https://platform.example.com'],
    ['admin service', 'server.security.useAuth', true],
    ['admin service', 'auth.grpcAuthorizationHeader', 'core-authorization'],
    ['admin service', 'auth.httpAuthorizationHeader', 'core-authorization'],
    [
      'admin service',
      'auth.authorizedUris',
      ['http://sallyport:80', 'http://sallyport.cloud-cp.svc.cluster.local:80'],
    ],
    ['admin service', 'auth.appAuth.authServerType', 'External'],
    ['admin service', 'auth.appAuth.externalAuthServer.baseUrl', ISSUER],
    ['admin service', 'auth.appAuth.thirdPartyConfig.flyteClient.clientId', 'native-app'],
    [
      'admin service',
      'auth.appAuth.thirdPartyConfig.flyteClient.redirectUri',
      'http://localhost:53593/callback',
    ],
    ['admin service', 'auth.appAuth.thirdPartyConfig.flyteClient.scopes', ['all']],
    ['admin service', 'auth.userAuth.openId.baseUrl', ISSUER],
    ['admin service', 'auth.userAuth.openId.clientId', 'web-app'],
    ['admin service', 'auth.userAuth.openId.scopes', ['profile', 'openid', 'offline_access']],
    ['admin service', 'auth.userAuth.cookieSetting.sameSitePolicy', 'LaxMode'],
    ['admin service', 'auth.userAuth.cookieSetting.domain', ''],
    ['admin service', 'auth.userAuth.idpQueryParameter', 'idp'],
    ['admin service', 'admin.clientId', 'service-app'],
    ['admin service', 'admin.clientSecretLocation', '/etc/secrets/client_secret'],
    ['control plane', 'admin.clientId', 'service-app'],
    ['control plane', 'admin.clientSecretLocation', '/etc/secrets/client_secret'],
    ['control plane', 'union.auth.enable', true],
    ['control plane', 'union.auth.type', 'ClientSecret'],
    ['control plane', 'union.auth.clientId', 'service-app'],
    ['control plane', 'union.auth.clientSecretLocation', '/etc/secrets/union/client_secret'],
    ['control plane', 'union.auth.tokenUrl', TOKEN_URL],
    ['control plane', 'union.auth.authorizationMetadataKey', 'core-authorization'],
    ['control plane', 'union.auth.scopes', ['all']],
    [
      'control plane',
      'executions.app.adminClient.connection.authorizationHeader',
      'core-authorization',
    ],
    ['control plane', 'executions.app.adminClient.connection.clientId', 'service-app'],
    [
      'control plane',
      'executions.app.adminClient.connection.clientSecretLocation',
      '/etc/secrets/union/client_secret',
    ],
    ['control plane', 'executions.app.adminClient.connection.tokenUrl', TOKEN_URL],
    ['control plane', 'executions.app.adminClient.connection.scopes', ['all']],
    ['control plane', 'secrets.adminOauthClientCredentials.enabled', true],
    ['data plane', 'admin.endpoint', 'dns:///platform.example.com'],
    ['data plane', 'admin.clientId', 'service-app'],
    ['data plane', 'admin.clientSecretLocation', '/etc/union/secret/client_secret'],
    ['data plane', 'union.auth.enable', true],
    ['data plane', 'union.auth.type', 'ClientSecret'],
    ['data plane', 'union.auth.clientId', 'service-app'],
    ['data plane', 'union.auth.clientSecretLocation', '/etc/union/secret/client_secret'],
    ['data plane', 'union.auth.authorizationMetadataKey', 'core-authorization'],
    ['data plane', 'union.auth.tokenRefreshWindow', '5m'],
    ['data plane', 'unionAuth.injectSecret', true],
    ['data plane', 'unionAuth.secretName', 'EAGER_API_KEY'],
  ] as const)('%s: %s is as the requirement says', (place, key, expected) => {
    expect(at(settings[place], key)).toEqual(expected);
  });

  it.each([
    ['data plane', 'union.auth.tokenUrl'],
    ['data plane', 'union.auth.scopes'],
    ['control plane', 'union.auth.tokenRefreshWindow'],
  ] as const)('%s: %s is given on the other plane', (place, key) => {
    expect(at(settings[place], key)).toBeUndefined();
  });
});

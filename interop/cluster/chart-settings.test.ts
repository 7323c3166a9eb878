/**
 * Golden renderings of the settings, typed from the requirement's tables: one assertion a row; and secrets among the values.
 *
 * @module
 */

import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createChartSettings } from '../../tools/generate-chart-settings.ts';
import { BUILD_TIMEOUT_MS, programPath } from './go-tool.ts';
import { type ChartName, findObject, GLOBAL, HELM, render, tryRender } from './helm.ts';

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

/** Stands where a person might put a secret into the values. */
const STAND_IN = 'canary-7f1c';
const KEY = '-----BEGIN EC PRIVATE KEY-----';

async function refusalOf(chart: ChartName, values: object): Promise<string> {
  const { code, stdout, stderr } = await tryRender({ chart, values: { ...values } });
  expect([code, stdout]).toEqual([1, '']);
  return stderr;
}

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

describe.skipIf(HELM.isLeftOut)('A secret', () => {
  beforeAll(() => programPath('helm'), BUILD_TIMEOUT_MS);

  it('among the settings is refused for every key of the schema that holds one, and not repeated', async () => {
    const settings = createChartSettings();
    const secret = Object.keys(settings).filter((key) => settings[key] === 'secret');
    expect(secret.length).toBeGreaterThan(1);
    for (const key of secret) {
      const config = key
        .split('.')
        .reduceRight<unknown>((value, name) => ({ [name]: value }), STAND_IN);
      const refusal = await refusalOf('sallyport', { config });
      expect(refusal).toContain(`config.${key} holds a secret`);
      expect(refusal).not.toContain(STAND_IN);
    }
  });

  const redis = (more: object): object => ({ config: { session: { redis: more } } });
  const openId = (more: object): object => ({ config: { auth: { userAuth: { openId: more } } } });
  it.each([
    [redis({ password: STAND_IN }), 'config.session.redis.password is no setting'],
    [openId({ clientSecret: STAND_IN }), 'config.auth.userAuth.openId.clientSecret is no setting'],
    [{ config: { [`a ${STAND_IN}`]: 1 } }, 'config.[withheld] is no setting'],
    [{ config: { 'session.redis': { mode: STAND_IN } } }, 'config.session.redis is no setting'],
    [{ config: { session: STAND_IN } }, 'config.session is no mapping'],
    [{ config: { session: { store: { is: STAND_IN } } } }, 'config.session.store holds a mapping'],
    [{ config: { trustedProxies: [{ is: STAND_IN }] } }, 'config.trustedProxies holds a mapping'],
    [
      { config: { bearer: { issuers: [{ clientSecret: STAND_IN }] } } },
      'config.bearer.issuers.clientSecret is no setting',
    ],
    [
      { config: { bearer: { issuers: [STAND_IN] } } },
      'config.bearer.issuers is no list of mappings',
    ],
    [openId({ clientSecretFile: STAND_IN }), 'openId.clientSecretFile is no path'],
    [
      { config: { admin: { clientSecretEnvVar: STAND_IN } } },
      'config.admin.clientSecretEnvVar is no name of an environment variable',
    ],
    [
      openId({ privateKeyLocation: `${KEY}\n${STAND_IN}` }),
      'config.auth.userAuth.openId.privateKeyLocation has a PRIVATE KEY',
    ],
    [
      openId({ baseUrl: `https://u:${STAND_IN}@idp/` }),
      'openId.baseUrl has a URL with a user name',
    ],
    [
      { config: { observe: { traces: { endpoint: `HTTP:\\\\u:${STAND_IN}@c` } } } },
      'config.observe.traces.endpoint has a URL with a user name',
    ],
    [
      { config: { redirectOrigins: [`https://${STAND_IN}@h`] } },
      'config.redirectOrigins has a URL',
    ],
    [{ publicUrl: `https://x:${STAND_IN}@host` }, 'publicUrl has a URL with a user name'],
    [
      { publicUrl: `http://x:${STAND_IN}@host`, ingress: { enabled: true } },
      'publicUrl has a URL with a user name',
    ],
    [
      { global: { ...GLOBAL, OIDC_BASE_URL: `https://u:${STAND_IN}@idp/` } },
      'global.OIDC_BASE_URL has a URL with a user name',
    ],
    [
      { global: { ...GLOBAL, AUTH_TOKEN_URL: `https://u:${STAND_IN}@idp/t` } },
      'global.AUTH_TOKEN_URL has a URL with a user name',
    ],
    [{ redis: { addresses: [`u:${STAND_IN}@redis:6379`] } }, 'redis.addresses has a user name'],
  ])(
    'in a value of the control plane is refused by its key, and not repeated: %j',
    async (values, reason) => {
      const refusal = await refusalOf('sallyport', values);
      expect(refusal).toContain(reason);
      expect(refusal).not.toContain(STAND_IN);
    },
  );

  it('in publicUrl of the data plane is refused, and not repeated', async () => {
    const publicUrl = `https://x:${STAND_IN}@host`;
    const refusal = await refusalOf('sallyport-dataplane', { publicUrl });
    expect(refusal).toContain('publicUrl has a user name or a password');
    expect(refusal).not.toContain(STAND_IN);
  });

  it('is not taken for one: settings with the name of a file, a query, an empty text or none', async () => {
    const config = {
      secrets: { admin: { clientSecret: '' }, adminOauthClientCredentials: null },
      access: { groups: ['people@example.com', 'a:b@c'] },
      bearer: {
        subjectPrefix: 'corp:',
        issuers: [
          { issuer: 'https://other.example.com/a@b', subjectPrefix: 'o@', audiences: ['x'] },
        ],
      },
      admin: {
        command: ['print-token', '--for=me@example.com'],
        clientSecretEnvVar: 'CLIENT_SECRET',
      },
      session: { keyRingFile: './ring.json', redis: null },
    };
    const { data } = findObject(
      await render({ chart: 'sallyport', values: { config } }),
      'ConfigMap',
      'sallyport',
    );
    expect(JSON.stringify(data)).toContain('https://other.example.com/a@b');
  });
});

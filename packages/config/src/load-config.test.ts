import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type LoadedConfig, loadConfig } from './load-config.ts';
import { formatConfigProblem } from './problems.ts';
import type { ConfigSources } from './resolve-settings.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com/oauth2/default',
  OIDC_CLIENT_ID: 'web-app',
  CLI_CLIENT_ID: 'native-app',
  INTERNAL_CLIENT_ID: 'service-app',
  AUTH_TOKEN_URL: 'https://idp.example.com/oauth2/default/v1/token',
  AUTH_CLIENT_ID: 'service-app',
};

function load(sources: Partial<ConfigSources> & { readonly text?: string }): LoadedConfig {
  const result = tryLoad(sources);
  if (!result.ok) throw new Error(result.error.map(formatConfigProblem).join('\n'));
  return result.value;
}

function tryLoad({ text, ...sources }: Partial<ConfigSources> & { readonly text?: string }) {
  const file = text === undefined ? {} : { file: { path: 'core.yaml', text } };
  return loadConfig({ env: ENV, flags: {}, ...file, ...sources }, 'serve');
}

function problemsOf(sources: Partial<ConfigSources> & { readonly text?: string }): string[] {
  const result = tryLoad(sources);
  return result.ok ? [] : result.error.map(formatConfigProblem);
}

function metadataUrl(value: string): string {
  const text = `auth: {appAuth: {externalAuthServer: {metadataUrl: '${value}'}}}\n`;
  return load({ text }).config.auth.appAuth.externalAuthServer.metadataUrl;
}

describe('deployment variables', () => {
  it('are a complete configuration together with PUBLIC_URL, without a file', () => {
    const { config, warnings, notUsedHere } = load({});
    expect(warnings).toEqual([]);
    expect(notUsedHere).toEqual([]);
    expect(config.publicUrl).toBe('https://platform.example.com');
    expect(config.auth.userAuth.openId.baseUrl).toBe(ENV.OIDC_BASE_URL);
    expect(config.auth.appAuth.externalAuthServer.baseUrl).toBe(ENV.OIDC_BASE_URL);
    expect(config.auth.userAuth.openId.clientId).toBe('web-app');
    expect(config.auth.appAuth.thirdPartyConfig.flyteClient.clientId).toBe('native-app');
    expect(config.union.auth.clientId).toBe('service-app');
    expect(config.union.auth.tokenUrl).toBe(ENV.AUTH_TOKEN_URL);
    expect(config.admin.clientId).toBe('service-app');
    expect(config.executions.app.adminClient.connection.clientId).toBe('service-app');
    expect(config.executions.app.adminClient.connection.tokenUrl).toBe(ENV.AUTH_TOKEN_URL);
    expect(config.secrets.admin.clientId).toBe('service-app');
  });

  it.each([
    ['PUBLIC_URL', 'publicUrl'],
    ['OIDC_BASE_URL', 'auth.userAuth.openId.baseUrl'],
    ['OIDC_CLIENT_ID', 'auth.userAuth.openId.clientId'],
    ['CLI_CLIENT_ID', 'auth.appAuth.thirdPartyConfig.flyteClient.clientId'],
  ])('names %s when it is missing or empty', (variable, key) => {
    for (const value of [undefined, '']) {
      const result = tryLoad({ env: { ...ENV, [variable]: value } });
      expect(result).toMatchObject({
        ok: false,
        error: [{ file: 'environment', line: undefined, key, variable, found: 'nothing' }],
      });
    }
  });

  it('names all of them at once when nothing is given', () => {
    expect(problemsOf({ env: {} })).toEqual([
      'environment: publicUrl (PUBLIC_URL): found nothing, expected an origin such as https://platform.example.com, here or in PUBLIC_URL',
      'environment: auth.appAuth.thirdPartyConfig.flyteClient.clientId (CLI_CLIENT_ID): found nothing, expected a client ID of printable ASCII characters, here or in CLI_CLIENT_ID',
      'environment: auth.userAuth.openId.baseUrl (OIDC_BASE_URL): found nothing, expected an issuer URL such as https://idp.example.com, here or in OIDC_BASE_URL',
      'environment: auth.userAuth.openId.clientId (OIDC_CLIENT_ID): found nothing, expected a client ID of printable ASCII characters, here or in OIDC_CLIENT_ID',
    ]);
  });

  it('warns of an AUTH_CLIENT_ID that differs from INTERNAL_CLIENT_ID, unless they are said to be separate', () => {
    const warningsOf = (id: string, text = '') =>
      load({ env: { ...ENV, AUTH_CLIENT_ID: id }, text }).warnings.map(formatConfigProblem);
    expect(warningsOf('other')).toEqual([
      'environment: secrets.admin.clientId (AUTH_CLIENT_ID): found "other", expected "service-app" as in union.auth.clientId (AUTH_CLIENT_ID equals INTERNAL_CLIENT_ID), unless auth.separateServiceApps: true says that they are two service apps',
    ]);
    expect(warningsOf('')).toEqual([]);
    expect(warningsOf('other', 'auth: {separateServiceApps: true}\n')).toEqual([]);
    expect(warningsOf('other', 'auth: {separateServiceApps: false}\n')).toHaveLength(1);
  });

  it('reports a wrong variable once though it feeds two keys', () => {
    expect(problemsOf({ env: { ...ENV, OIDC_BASE_URL: 'idp' } })).toHaveLength(1);
  });

  it('OIDC_CLIENT_SECRET_FILE names the secret file, else it has its documented place', () => {
    expect(load({}).config.auth.userAuth.openId.clientSecretFile).toBe(
      '/etc/secrets/oidc_client_secret',
    );
    const { config } = load({ env: { ...ENV, OIDC_CLIENT_SECRET_FILE: './secret' } });
    expect(config.auth.userAuth.openId.clientSecretFile).toBe(resolve('./secret'));
    expect(config.admin.clientSecretLocation).toBe('/etc/secrets/client_secret');
  });
});

describe('defaults', () => {
  it("are the requirement's required values", () => {
    const { auth, server, union, executions, unionAuth, admin } = load({}).config;
    expect(server.security.useAuth).toBe(true);
    expect(auth.grpcAuthorizationHeader).toBe('core-authorization');
    expect(auth.httpAuthorizationHeader).toBe('core-authorization');
    expect(auth.appAuth.authServerType).toBe('External');
    expect(auth.appAuth.thirdPartyConfig.flyteClient).toEqual({
      clientId: 'native-app',
      redirectUri: 'http://localhost:53593/callback',
      scopes: ['all'],
      audience: '',
    });
    expect(auth.userAuth.openId.scopes).toEqual(['profile', 'openid', 'offline_access']);
    expect(auth.userAuth.cookieSetting).toEqual({ sameSitePolicy: 'LaxMode', domain: '' });
    expect(auth.userAuth.idpQueryParameter).toBe('idp');
    expect(union.auth).toEqual({
      enable: true,
      type: 'ClientSecret',
      clientId: 'service-app',
      clientSecretLocation: '/etc/secrets/union/client_secret',
      tokenUrl: ENV.AUTH_TOKEN_URL,
      authorizationMetadataKey: 'core-authorization',
      scopes: ['all'],
      tokenRefreshWindowMs: 300_000,
    });
    expect(executions.app.adminClient.connection.authorizationHeader).toBe('core-authorization');
    expect(executions.app.adminClient.connection.scopes).toEqual(['all']);
    expect(unionAuth).toEqual({
      injectSecret: true,
      secretName: 'EAGER_API_KEY',
      podLabel: 'sallyport/inject-api-key',
      namespaceLabel: 'sallyport/api-key-injection',
    });
    expect(admin.insecure).toBe(false);
  });

  it('of sessions are 12 h idle, 7 d absolute and 1 h without a refresh token', () => {
    const { redis, ...session } = load({}).config.session;
    expect(redis).toMatchObject({ mode: 'standalone', addresses: [], keyPrefix: 'sallyport' });
    expect(session).toEqual({
      store: 'local',
      idleTimeoutMs: 43_200_000,
      absoluteLifetimeMs: 604_800_000,
      withoutRefreshTokenIdleMs: 3_600_000,
      revalidateAfterMs: 600_000,
      renewalGraceMs: 300_000,
      renewalsPerSecond: 20,
      keyRingFile: '/var/lib/sallyport/key-ring.json',
    });
  });

  it('listens where only the same machine reaches it', () => {
    expect(load({}).config.listen).toEqual({ host: '127.0.0.1', port: 8080 });
  });

  it('run no second process', () => {
    expect(load({}).config.server.workers).toBe(1);
    expect(load({ text: 'server: { workers: 64 }' }).config.server.workers).toBe(64);
    expect(load({ text: 'server: { workers: auto }' }).config.server.workers).toBe('auto');
  });

  it('follow other keys: key ring in the state directory, client headers after the server', () => {
    const { config, origins } = load({
      text: 'stateDirectory: ./state/\nauth: {grpcAuthorizationHeader: X-Bearer}\n',
    });
    expect(config.session.keyRingFile).toBe(resolve('state/key-ring.json'));
    expect(config.union.auth.authorizationMetadataKey).toBe('x-bearer');
    expect(origins.get('session.keyRingFile')).toBe('default');
  });

  it('a relative path is resolved against the folder of the file that gives it, else the working folder', () => {
    const text = 'stateDirectory: ./state\nauth: {userAuth: {openId: {clientSecretFile: ../s}}}\n';
    const file = { path: '/etc/sallyport/sallyport.yaml', text };
    const { config } = load({ file });
    expect(config.stateDirectory).toBe('/etc/sallyport/state');
    expect(config.session.keyRingFile).toBe('/etc/sallyport/state/key-ring.json');
    expect(config.auth.userAuth.openId.clientSecretFile).toBe('/etc/s');
    const env = { ...ENV, SALLYPORT_STATE_DIRECTORY: './state', OIDC_CLIENT_SECRET_FILE: '/s' };
    const given = load({ file, env }).config;
    expect(given.stateDirectory).toBe(resolve('./state'));
    expect(given.auth.userAuth.openId.clientSecretFile).toBe('/s');
  });

  it('the accepted issuer is that of the sign-in unless another is named', () => {
    const env = { ...ENV, OIDC_BASE_URL: undefined };
    const signIn = 'auth: {userAuth: {openId: {baseUrl: https://a.example/}}}\n';
    expect(load({ env, text: signIn }).config.auth.appAuth.externalAuthServer.baseUrl).toBe(
      'https://a.example/',
    );
    const both = `auth: {userAuth: {openId: {baseUrl: https://a.example/}, subjectPrefix: 'a:'}, appAuth: {externalAuthServer: {baseUrl: https://b.example}}}\nbearer: {subjectPrefix: 'b:'}\n`;
    expect(load({ env, text: both }).config.auth.appAuth.externalAuthServer.baseUrl).toBe(
      'https://b.example',
    );
  });
});

describe('precedence', () => {
  const text = 'listen:\n  port: 1\nobserve:\n  logLevel: warn\nrateLimit:\n  perMinute: 7\n';
  const env = { ...ENV, SALLYPORT_LISTEN_PORT: '2', SALLYPORT_LOG_LEVEL: 'error' };

  it('is flag, environment, file, default, and origins names which won', () => {
    const { config, origins } = load({ text, env, flags: { 'listen.port': '3' } });
    expect(config.listen.port).toBe(3);
    expect(config.observe.logLevel).toBe('error');
    expect(config.rateLimit.perMinute).toBe(7);
    expect(origins.get('listen.port')).toBe('flag');
    expect(origins.get('observe.logLevel')).toBe('env');
    expect(origins.get('rateLimit.perMinute')).toBe('file');
    expect(origins.get('listen.host')).toBe('default');
  });

  it('a flag takes typed values and text alike; undefined is not given', () => {
    expect(load({ flags: { 'listen.port': 4 } }).config.listen.port).toBe(4);
    expect(
      load({ flags: { 'server.security.useAuth': false } }).config.server.security.useAuth,
    ).toBe(false);
    expect(load({ flags: { 'access.groups': 'a, b' } }).config.access.groups).toEqual(['a', 'b']);
    expect(load({ flags: { 'listen.port': undefined } }).config.listen.port).toBe(8080);
  });

  it('checks a value all the same when another source overrides it', () => {
    expect(problemsOf({ text: 'listen: {port: many}\n', flags: { 'listen.port': 3 } })).toEqual([
      'core.yaml:1: listen.port: found "many", expected a whole number from 0 to 65535',
    ]);
  });

  it('reports a wrong flag, and an unknown one with what it may have meant', () => {
    expect(problemsOf({ flags: { 'listen.port': 'x', 'listen.prot': 1, constructor: 1 } })).toEqual(
      [
        'flag: listen.port: found "x", expected a whole number from 0 to 65535',
        'flag: listen.prot: found an unknown key, expected listen.port (did you mean that?)',
        'flag: constructor: found an unknown key, expected a documented key',
      ],
    );
  });
});

describe('order of problems', () => {
  it('is the file from top to bottom, then the environment, then flags', () => {
    const text = 'listen:\n  port: many\nauth:\n  userAuth:\n    cookieSetting: 1\nfoo: 1\n';
    const env = { ...ENV, OIDC_CLIENT_ID: undefined, SALLYPORT_LOG_LEVEL: 'loud' };
    const result = tryLoad({ text, env, flags: { bar: 1 } });
    expect(
      result.ok ? [] : result.error.map(({ file, line, key }) => `${file} ${line} ${key}`),
    ).toEqual([
      'core.yaml 2 listen.port',
      'core.yaml 4 auth.userAuth.openId.clientId',
      'core.yaml 5 auth.userAuth.cookieSetting',
      'core.yaml 6 foo',
      'environment undefined observe.logLevel',
      'flag undefined bar',
    ]);
  });
});

describe('useAuth', () => {
  it('false asks for no identity provider', () => {
    const { config } = load({
      env: { PUBLIC_URL: ENV.PUBLIC_URL },
      text: 'server: {security: {useAuth: false}}\n',
    });
    expect(config.server.security.useAuth).toBe(false);
    expect(config.auth.userAuth.openId.baseUrl).toBe('');
  });

  it('true names every missing setting with its variable', () => {
    const env = { PUBLIC_URL: ENV.PUBLIC_URL };
    expect(problemsOf({ env, text: 'server: {security: {useAuth: true}}\n' })).toEqual([
      'core.yaml:1: auth.appAuth.thirdPartyConfig.flyteClient.clientId (CLI_CLIENT_ID): found nothing, expected a client ID of printable ASCII characters, here or in CLI_CLIENT_ID',
      'core.yaml:1: auth.userAuth.openId.baseUrl (OIDC_BASE_URL): found nothing, expected an issuer URL such as https://idp.example.com, here or in OIDC_BASE_URL',
      'core.yaml:1: auth.userAuth.openId.clientId (OIDC_CLIENT_ID): found nothing, expected a client ID of printable ASCII characters, here or in OIDC_CLIENT_ID',
    ]);
  });

  it('that is no boolean is the only problem reported: what is missing depends on it', () => {
    expect(
      problemsOf({
        env: { PUBLIC_URL: ENV.PUBLIC_URL },
        text: 'server: {security: {useAuth: yes}}\n',
      }),
    ).toEqual(['core.yaml:1: server.security.useAuth: found "yes", expected true or false']);
  });
});

describe('blocks of other commands', () => {
  const text =
    'union:\n  auth:\n    enable: true\nadmin:\n  endpoint: dns:///platform.example.com\nsecrets:\n  admin:\n    create: false\n';

  it('are listed as not used when the file gives them', () => {
    expect(load({ text }).notUsedHere).toEqual(['union.auth', 'admin', 'secrets.admin']);
    expect(load({ text: 'listen: {port: 0}\n' }).notUsedHere).toEqual([]);
  });

  it('are checked in full all the same', () => {
    const env = { ...ENV, INTERNAL_CLIENT_ID: undefined, AUTH_CLIENT_ID: undefined };
    expect(problemsOf({ env, text: `${text}    enabled: true\n` })).toEqual([
      'core.yaml:2: union.auth.clientId (INTERNAL_CLIENT_ID): found nothing, expected a client ID of printable ASCII characters, here or in INTERNAL_CLIENT_ID',
      'core.yaml:7: secrets.admin.clientId (AUTH_CLIENT_ID): found nothing, expected a client ID of printable ASCII characters, here or in AUTH_CLIENT_ID',
      'core.yaml:9: secrets.admin.enabled: found an unknown key, expected secrets.admin.enable (did you mean that?)',
    ]);
  });

  it('ask for nothing while they are switched off', () => {
    const env = { ...ENV, INTERNAL_CLIENT_ID: undefined, AUTH_CLIENT_ID: undefined };
    const { warnings } = load({ env, text: 'union: {auth: {enable: false}}\n' });
    expect(warnings.map(formatConfigProblem)).toEqual([
      'core.yaml:1: union.auth.enable: found false, expected true: without it internal services receive 401',
    ]);
  });
});

describe('the configuration', () => {
  it('is deeply frozen', () => {
    const { config } = load({ text: 'access: {groups: [a]}\n' });
    const seen: object[] = [config];
    for (let next = seen.pop(); next !== undefined; next = seen.pop()) {
      expect(Object.isFrozen(next)).toBe(true);
      seen.push(...Object.values(next).filter((child) => typeof child === 'object'));
    }
    expect(() => {
      // @ts-expect-error -- a configuration is read-only
      config.publicUrl = 'https://elsewhere.example';
    }).toThrow(TypeError);
  });

  it('resolves a relative metadataUrl against the issuer', () => {
    expect(metadataUrl('.well-known/oauth-authorization-server')).toBe(
      'https://idp.example.com/oauth2/default/.well-known/oauth-authorization-server',
    );
    expect(metadataUrl('https://idp.example.com/meta')).toBe('https://idp.example.com/meta');
    expect(metadataUrl('')).toBe('');
    expect(
      problemsOf({
        text: "auth: {appAuth: {externalAuthServer: {metadataUrl: '//evil.example/x'}}}\n",
      }),
    ).toHaveLength(1);
  });
});

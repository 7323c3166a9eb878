import { formatConfigProblem } from '@sallyport/config';
import { BASE, ENDPOINT, load, problemsOf } from '@sallyport/testing/client/settings';
import { describe, expect, it } from 'vitest';
import type { ClientSettings } from './client-settings.ts';
import { DEFAULT_BRAND, listVariables } from './variables.ts';

const CANARY = 'c4n4ry-V4lue';

describe('the client-side file', () => {
  it('of a person is the requirement’s: endpoint, authType Pkce, insecure false', () => {
    const text = `admin:\n  endpoint: ${ENDPOINT}\n  authType: Pkce\n  insecure: false\n`;
    expect(load({ text, env: {} }).settings).toMatchObject({
      isEnabled: true,
      endpoint: { origin: 'https://platform.example.com', port: 443, isInsecure: false },
      authType: 'Pkce',
      clientId: '',
      clientSecret: undefined,
      scopes: undefined,
      tokenUrl: '',
      authorizationHeader: '',
      refreshWindowMs: 300_000,
      pkceTimeoutMs: 180_000,
      deviceTimeoutMs: 600_000,
    });
  });

  it('of automation is the requirement’s: ClientSecret, clientId, clientSecretLocation', () => {
    const text = `admin:
  endpoint: ${ENDPOINT}
  authType: ClientSecret
  clientId: automation
  clientSecretLocation: /run/secrets/client_secret
`;
    expect(load({ text, env: {} }).settings).toMatchObject({
      authType: 'ClientSecret',
      clientId: 'automation',
      clientSecret: { from: 'file', path: '/run/secrets/client_secret' },
    });
  });

  it.each<readonly [string, string, Partial<ClientSettings> | object]>([
    ['endpoint', 'localhost:9000', { endpoint: { origin: 'https://localhost:9000' } }],
    ['authType', 'DeviceFlow', { authType: 'DeviceFlow' }],
    ['insecure', 'true', { endpoint: { isInsecure: true, port: 80 } }],
    ['insecureSkipVerify', 'true', { insecureSkipVerify: true }],
    ['caCertFilePath', '/etc/ca.pem', { caCertFilePath: '/etc/ca.pem' }],
    ['clientId', 'automation', { clientId: 'automation' }],
    [
      'clientSecretLocation',
      '/run/secret',
      { authType: 'ClientSecret', clientSecret: { from: 'file', path: '/run/secret' } },
    ],
    ['scopes', '[a, b]', { scopes: ['a', 'b'] }],
    ['useAudienceFromAdmin', 'true', { useAudienceFromAdmin: true }],
    ['audience', 'https://api.example.com', { audience: 'https://api.example.com' }],
    ['tokenUrl', 'https://idp.example.com/t', { tokenUrl: 'https://idp.example.com/t' }],
    ['authorizationHeader', 'X-Token', { authorizationHeader: 'x-token' }],
    ['tokenRefreshWindow', '2m', { refreshWindowMs: 120_000 }],
    ['command', '[mint, --fast]', { command: ['mint', '--fast'] }],
    ['serviceAccountTokenLocation', '/t', { serviceAccountToken: { path: '/t', use: 'Bearer' } }],
    [
      'serviceAccountTokenUse',
      'ClientAssertion',
      { serviceAccountToken: { use: 'ClientAssertion' } },
    ],
    ['disableKeyring', 'true', { disableKeyring: true }],
    ['pkceConfig', '{ timeout: 1m }', { pkceTimeoutMs: 60_000 }],
    ['deviceFlowConfig', '{ timeout: 1m }', { deviceTimeoutMs: 60_000 }],
  ])('gives admin.%s', (name, value, expected) => {
    const rest = name === 'clientSecretLocation' ? '  clientId: a\n' : '';
    const { settings, origins } = load({
      text: `admin:\n${rest}  ${name}: ${value}\n`,
      env: name === 'endpoint' ? {} : BASE,
    });
    expect(settings).toMatchObject(expected);
    const source = [...origins].filter(([key]) => key.startsWith(`admin.${name}`));
    const line = rest === '' ? 2 : 3;
    expect(source.map(([, origin]) => origin)).toContainEqual({
      origin: 'file',
      source: `config.yaml:${line}`,
    });
  });

  it('may hold blocks of other programs that read the same file', () => {
    expect(load({ text: 'logger:\n  level: 0\ntask:\n  org: acme\n' }).settings.authType).toBe(
      'Pkce',
    );
  });

  it('with every problem is reported all at once, with file, line, key, found and expected', () => {
    const text = `admin:
  endpoint: https://platform.example.com/console
  authType: Basic
  insecure: yes
  clientID: automation
  scopes: all
  command: mint
  tokenRefreshWindow: 5
  useAuth: true
`;
    expect(problemsOf({ text, env: {} })).toEqual([
      'config.yaml:2: admin.endpoint: found "https://platform.example.com/console", expected an endpoint such as dns:///platform.example.com',
      'config.yaml:3: admin.authType: found "Basic", expected one of Pkce, ClientSecret, DeviceFlow, ExternalCommand, ServiceAccountToken',
      'config.yaml:4: admin.insecure: found "yes", expected true or false',
      'config.yaml:5: admin.clientID: found an unknown key, expected admin.clientId (did you mean that?)',
      'config.yaml:6: admin.scopes: found "all", expected a list of scopes',
      'config.yaml:7: admin.command: found "mint", expected a list of a program and its arguments',
      'config.yaml:8: admin.tokenRefreshWindow: found 5, expected a duration from 0s to 24h, such as 90s or 12h',
      'config.yaml:9: admin.useAuth: found an unknown key, expected no such key: admin.authType says how to authenticate',
    ]);
  });

  it.each([
    ['authType: ClientSecret', 'admin.clientId (CORE_CREDENTIALS_CLIENT_ID): found nothing'],
    ['authType: ExternalCommand', 'admin.command (CORE_CREDENTIALS_COMMAND): found nothing'],
    ['clientSecretEnvVar: NOT_SET', 'admin.clientSecretEnvVar'],
  ])('with %s lacks what that needs', (line, problem) => {
    expect(problemsOf({ text: `admin:\n  ${line}\n` })[0]).toContain(problem);
  });

  it('without an endpoint is reported, with the variable that can give it', () => {
    expect(problemsOf({ env: {} })).toEqual([
      'environment: admin.endpoint: found nothing, expected the address of the platform, such as dns:///platform.example.com',
    ]);
  });
});

describe('plain http', () => {
  it('to a token endpoint off the loopback is refused, and warned of where its origin is allowed', () => {
    const env = { ...BASE, CORE_CREDENTIALS_TOKEN_URL: 'http://idp.identity:8080/token' };
    expect(problemsOf({ env })).toEqual([
      'environment: admin.tokenUrl (CORE_CREDENTIALS_TOKEN_URL): found "http://idp.identity:8080/token", expected https, or http on localhost, 127.0.0.1 or [::1]; dangerouslyAllowPlainHttpTo: [http://idp.identity:8080] allows it',
    ]);
    const allowed = { SALLYPORT_DANGEROUSLY_ALLOW_PLAIN_HTTP_TO: 'http://idp.identity:8080' };
    const { settings, warnings } = load({ env: { ...env, ...allowed } });
    expect(settings.dangerouslyAllowPlainHttpTo).toEqual(['http://idp.identity:8080']);
    expect(warnings.map(({ key }) => key)).toEqual(['admin.tokenUrl']);
  });

  it('off the loopback is refused unless insecure is set', () => {
    expect(problemsOf({ env: { CORE_PLATFORM_URL: 'http://platform.example.com' } })[0]).toContain(
      'admin.insecure: true allows it elsewhere',
    );
  });

  it('with insecure is taken with a warning', () => {
    const { settings, warnings } = load({ flags: { 'admin.insecure': true } });
    expect(settings.endpoint?.origin).toBe('http://platform.example.com');
    expect(warnings.map(formatConfigProblem)).toEqual([
      'flag: admin.insecure: found true, expected false: tokens can be read on the way',
    ]);
  });

  it('on the loopback needs neither', () => {
    expect(load({ env: { CORE_PLATFORM_URL: 'http://localhost:8080' } }).warnings).toEqual([]);
  });

  it('together with https:// is a contradiction', () => {
    const flags = { 'admin.insecure': true, 'admin.endpoint': 'https://platform.example.com' };
    expect(problemsOf({ flags })).toEqual([
      'flag: admin.endpoint: found "https://platform.example.com", expected no https:// together with admin.insecure: true',
    ]);
  });
});

it('insecureSkipVerify is taken with a warning', () => {
  const { warnings } = load({ text: 'admin:\n  insecureSkipVerify: true\n' });
  expect(warnings.map(formatConfigProblem)[0]).toMatch(
    /^config\.yaml:2: admin\.insecureSkipVerify: /,
  );
  expect(load({}).warnings).toEqual([]);
});

describe('the environment', () => {
  it('CORE_CREDENTIALS_CLIENT_ID, CORE_CREDENTIALS_CLIENT_SECRET and CORE_CREDENTIALS_AUTH_MODE=basic are automation', () => {
    const { settings, origins } = load({
      env: {
        ...BASE,
        CORE_CREDENTIALS_CLIENT_ID: 'automation',
        CORE_CREDENTIALS_CLIENT_SECRET: CANARY,
        CORE_CREDENTIALS_AUTH_MODE: 'basic',
      },
    });
    expect(settings).toMatchObject({ authType: 'ClientSecret', clientId: 'automation' });
    expect(settings.clientSecret?.from === 'text' && settings.clientSecret.secret.reveal()).toBe(
      CANARY,
    );
    expect(JSON.stringify([settings, [...origins]])).not.toContain(CANARY);
    expect(origins.get('admin.authType')?.source).toBe('CORE_CREDENTIALS_AUTH_MODE');
  });

  it.each([
    ['standard', 'Pkce'],
    ['Pkce', 'Pkce'],
    ['basic', 'ClientSecret'],
    ['client_credentials', 'ClientSecret'],
    ['ClientSecret', 'ClientSecret'],
    ['external_process', 'ExternalCommand'],
    ['ExternalCommand', 'ExternalCommand'],
    ['DeviceFlow', 'DeviceFlow'],
  ])('CORE_CREDENTIALS_AUTH_MODE=%s is %s', (mode, authType) => {
    const env = {
      ...BASE,
      CORE_CREDENTIALS_AUTH_MODE: mode,
      CORE_CREDENTIALS_CLIENT_ID: 'a',
      CORE_CREDENTIALS_COMMAND: 'mint',
    };
    expect(load({ env }).settings.authType).toBe(authType);
  });

  it('CORE_CREDENTIALS_AUTH_MODE with another word is refused', () => {
    const env = { ...BASE, CORE_CREDENTIALS_AUTH_MODE: 'magic' };
    expect(problemsOf({ env })[0]).toMatch(
      /^environment: admin\.authType \(CORE_CREDENTIALS_AUTH_MODE\): found "magic", expected one of/,
    );
  });

  it.each<readonly [string, string, object]>([
    ['PLATFORM_URL', 'other.example.com', { endpoint: { origin: 'https://other.example.com' } }],
    ['PLATFORM_INSECURE', 'True', { endpoint: { isInsecure: true } }],
    ['PLATFORM_INSECURE_SKIP_VERIFY', '1', { insecureSkipVerify: true }],
    ['PLATFORM_CA_CERT_FILE_PATH', '/ca.pem', { caCertFilePath: '/ca.pem' }],
    ['CREDENTIALS_CLIENT_ID', 'automation', { clientId: 'automation' }],
    ['CREDENTIALS_SCOPES', 'a,b', { scopes: ['a', 'b'] }],
    ['CREDENTIALS_AUDIENCE', 'api', { audience: 'api' }],
    ['CREDENTIALS_COMMAND', `mint "a b"`, { command: ['mint', 'a b'] }],
    ['CREDENTIALS_TOKEN_URL', 'https://i.example/t', { tokenUrl: 'https://i.example/t' }],
    ['CREDENTIALS_AUTHORIZATION_HEADER', 'x-a', { authorizationHeader: 'x-a' }],
    ['AUTH_TYPE', 'DeviceFlow', { authType: 'DeviceFlow' }],
    ['AUTH_COMMAND', '["mint","a b"]', { command: ['mint', 'a b'] }],
    ['ADMIN_ENDPOINT', 'other.example.com', { endpoint: { origin: 'https://other.example.com' } }],
    ['ADMIN_AUTHTYPE', 'DeviceFlow', { authType: 'DeviceFlow' }],
    ['ADMIN_INSECURE', 'true', { endpoint: { isInsecure: true } }],
    ['ADMIN_INSECURESKIPVERIFY', 'true', { insecureSkipVerify: true }],
    ['ADMIN_CACERTFILEPATH', '/ca.pem', { caCertFilePath: '/ca.pem' }],
    ['ADMIN_CLIENTID', 'automation', { clientId: 'automation' }],
    ['ADMIN_SCOPES', 'a', { scopes: ['a'] }],
    ['ADMIN_USEAUDIENCEFROMADMIN', 'true', { useAudienceFromAdmin: true }],
    ['ADMIN_AUDIENCE', 'api', { audience: 'api' }],
    ['ADMIN_TOKENURL', 'https://i.example/t', { tokenUrl: 'https://i.example/t' }],
    ['ADMIN_AUTHORIZATIONHEADER', 'x-a', { authorizationHeader: 'x-a' }],
    ['ADMIN_TOKENREFRESHWINDOW', '1m', { refreshWindowMs: 60_000 }],
    ['ADMIN_COMMAND', 'mint', { command: ['mint'] }],
    ['ADMIN_SERVICEACCOUNTTOKENLOCATION', '/t', { serviceAccountToken: { path: '/t' } }],
    [
      'ADMIN_SERVICEACCOUNTTOKENUSE',
      'ClientAssertion',
      { serviceAccountToken: { use: 'ClientAssertion' } },
    ],
    ['ADMIN_DISABLEKEYRING', 'true', { disableKeyring: true }],
    ['ADMIN_PKCECONFIG_TIMEOUT', '1m', { pkceTimeoutMs: 60_000 }],
    ['ADMIN_DEVICEFLOWCONFIG_TIMEOUT', '1m', { deviceTimeoutMs: 60_000 }],
  ])('gives a setting by CORE_%s, FLYTE_%s and a configured brand', (suffix, value, expected) => {
    for (const brand of ['CORE', 'FLYTE', 'ACME']) {
      const env = { [`${brand}_${suffix}`]: value };
      const isEndpoint = /URL$|ENDPOINT$/.test(suffix) && !suffix.includes('TOKEN');
      const flags = isEndpoint ? {} : { 'admin.endpoint': ENDPOINT };
      const loaded = load({ env, flags, ...(brand === 'ACME' ? { brand } : {}) });
      expect(loaded.settings).toMatchObject(expected);
      expect([...loaded.origins.values()]).toContainEqual({
        origin: 'env',
        source: `${brand}_${suffix}`,
      });
    }
  });

  it.each([
    ['PLATFORM_URL', 'https://x/y z'],
    ['PLATFORM_INSECURE', 'perhaps'],
    ['PLATFORM_INSECURE_SKIP_VERIFY', 'perhaps'],
    ['PLATFORM_CA_CERT_FILE_PATH', 'ca.pem'],
    ['CREDENTIALS_CLIENT_ID', 'ä'],
    ['CREDENTIALS_CLIENT_SECRET_LOCATION', 'secret'],
    ['CREDENTIALS_CLIENT_SECRET_ENV_VAR', 'a-b'],
    ['CREDENTIALS_SCOPES', 'a b'],
    ['CREDENTIALS_AUDIENCE', 'a b'],
    ['CREDENTIALS_COMMAND', '"open'],
    ['CREDENTIALS_TOKEN_URL', 'http://idp.example.com'],
    ['AUTH_TYPE', 'Passthrough'],
    ['ADMIN_TOKENREFRESHWINDOW', '300'],
    ['ADMIN_PKCECONFIG_TIMEOUT', '0s'],
  ])('refuses a wrong CORE_%s (%s) and names it', (suffix, value) => {
    const variable = `CORE_${suffix}`;
    const flags = { 'admin.endpoint': ENDPOINT };
    expect(problemsOf({ env: { [variable]: value }, flags })[0]).toContain(`(${variable}): found `);
  });

  it('with two variables of one setting that differ is a problem, and that agree is none', () => {
    const env = { CORE_PLATFORM_URL: ENDPOINT, FLYTE_PLATFORM_URL: 'dns:///other.example.com' };
    expect(problemsOf({ env })).toEqual([
      'environment: admin.endpoint (FLYTE_PLATFORM_URL): found "dns:///other.example.com", expected the same as in CORE_PLATFORM_URL, or one of the two alone',
    ]);
    expect(problemsOf({ env: { ...env, FLYTE_PLATFORM_URL: ENDPOINT } })).toEqual([]);
  });

  it('of another brand is not read', () => {
    expect(problemsOf({ env: { ACME_PLATFORM_URL: ENDPOINT } })).toHaveLength(1);
  });

  it('wins over the file and loses to a flag', () => {
    const text = 'admin:\n  audience: from-file\n';
    const env = { ...BASE, CORE_CREDENTIALS_AUDIENCE: 'from-env' };
    expect(load({ text }).settings.audience).toBe('from-file');
    expect(load({ text, env }).settings.audience).toBe('from-env');
    const flags = { 'admin.audience': 'from-flag' };
    expect(load({ text, env, flags }).settings.audience).toBe('from-flag');
  });
});

describe('the client secret', () => {
  const app = { ...BASE, CORE_CREDENTIALS_CLIENT_ID: 'a' };

  it('in the environment wins over a file that says Pkce', () => {
    const text = 'admin:\n  authType: Pkce\n';
    const env = { ...app, CORE_CREDENTIALS_CLIENT_SECRET: CANARY };
    expect(load({ text, env }).settings.authType).toBe('ClientSecret');
    expect(load({ text, env: app }).settings.authType).toBe('Pkce');
  });

  it('in the environment is not used when a flag says Pkce, which is reported', () => {
    const env = { ...app, CORE_CREDENTIALS_CLIENT_SECRET: CANARY };
    const { settings, warnings } = load({ env, flags: { 'admin.authType': 'Pkce' } });
    expect(settings).toMatchObject({ authType: 'Pkce', clientSecret: undefined });
    expect(warnings).toMatchObject([{ key: 'admin.authType', found: 'Pkce' }]);
  });

  it.each([
    ['\n', 'a secret with a newline at its end'],
    [' ', 'a secret with white space around it'],
  ])('with %j at its end is a problem that names it, and never shows it', (end, found) => {
    const env = { ...app, CORE_CREDENTIALS_CLIENT_SECRET: `${CANARY}${end}` };
    const [problem] = problemsOf({ env });
    expect(problem).toContain(`(CORE_CREDENTIALS_CLIENT_SECRET): found ${found}`);
    expect(problem).not.toContain(CANARY);
  });

  it('by clientSecretEnvVar wins over the file of the same source', () => {
    const text = 'admin:\n  clientSecretEnvVar: MY_SECRET\n  clientSecretLocation: /run/secret\n';
    const { clientSecret } = load({ text, env: { ...app, MY_SECRET: CANARY } }).settings;
    expect(clientSecret?.from === 'text' && clientSecret.secret.reveal()).toBe(CANARY);
  });

  it('of a flag wins over the environment', () => {
    const env = { ...app, CORE_CREDENTIALS_CLIENT_SECRET: CANARY };
    const flags = { 'admin.clientSecretLocation': '/run/secret' };
    expect(load({ env, flags }).settings.clientSecret).toMatchObject({ path: '/run/secret' });
  });

  it('in two variables that differ is a problem that shows neither', () => {
    const env = {
      ...app,
      CORE_CREDENTIALS_CLIENT_SECRET: CANARY,
      FLYTE_CREDENTIALS_CLIENT_SECRET: `${CANARY}x`,
    };
    const [problem] = problemsOf({ env });
    expect(problem).toContain('expected the same as in CORE_CREDENTIALS_CLIENT_SECRET');
    expect(problem).not.toContain(CANARY);
  });

  it('given where a name or path belongs is not shown', () => {
    for (const key of ['clientSecretLocation', 'clientSecretEnvVar', 'clientSecret'])
      expect(problemsOf({ text: `admin:\n  ${key}: ${CANARY}\n` }).join()).not.toContain(CANARY);
  });
});

describe('the API key', () => {
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  const key = encode(`keyed.example.com:service:${CANARY}:acme`);

  it.each(['_UNION_EAGER_API_KEY', 'EAGER_API_KEY', 'FLYTE_API_KEY'])(
    '%s gives endpoint, client and secret, at port 443 with TLS',
    (variable) => {
      const { settings, origins } = load({ env: { [variable]: key } });
      expect(settings).toMatchObject({
        authType: 'ApiKey',
        endpoint: { origin: 'https://keyed.example.com', port: 443, isInsecure: false },
        clientId: 'service',
      });
      expect(origins.get('apiKey')).toEqual({ origin: 'env', source: variable });
      expect(JSON.stringify(settings)).not.toContain(CANARY);
    },
  );

  it('_UNION_EAGER_API_KEY, which was injected into the pod, wins over EAGER_API_KEY', () => {
    const other = encode('other.example.com:a:b:');
    const env = { EAGER_API_KEY: other, _UNION_EAGER_API_KEY: key };
    expect(load({ env }).settings.endpoint?.host).toBe('keyed.example.com');
  });

  it('wins over endpoint and authType of a file', () => {
    const text = `admin:\n  endpoint: ${ENDPOINT}\n  authType: Pkce\n`;
    expect(load({ text, env: { EAGER_API_KEY: key } }).settings).toMatchObject({
      authType: 'ApiKey',
      endpoint: { host: 'keyed.example.com' },
    });
  });

  it('is not even read when a variable names the way', () => {
    const env = { ...BASE, FLYTE_AUTH_TYPE: 'ExternalCommand', FLYTE_AUTH_COMMAND: 'mint' };
    expect(load({ env: { ...env, EAGER_API_KEY: 'broken' } }).settings.authType).toBe(
      'ExternalCommand',
    );
  });

  it('for another endpoint than the variable’s is a problem', () => {
    expect(problemsOf({ env: { ...BASE, EAGER_API_KEY: key } })).toEqual([
      'environment: admin.endpoint (CORE_PLATFORM_URL): found an endpoint other than that of the API key, expected the one that EAGER_API_KEY is for, or none',
    ]);
  });

  it('beside a client secret is a problem, and AUTH_MODE basic resolves it', () => {
    const env = {
      EAGER_API_KEY: key,
      CORE_CREDENTIALS_CLIENT_ID: 'a',
      CORE_CREDENTIALS_CLIENT_SECRET: 'b',
    };
    expect(problemsOf({ env })[0]).toContain('found an API key and a client secret');
    const resolved = { ...BASE, ...env, CORE_CREDENTIALS_AUTH_MODE: 'basic' };
    expect(load({ env: resolved }).settings.authType).toBe('ClientSecret');
  });

  it('is what is missing in a pod, at once and by name, instead of a sign-in by browser', () => {
    const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };
    const missing = [
      'environment: apiKey (EAGER_API_KEY): found nothing, in a pod, expected the API key: provision its Secret, and label the pod and its namespace so that the executor injects it; or another way, named in admin.authType',
    ];
    expect(problemsOf({ env: pod })).toEqual(missing);
    expect(problemsOf({ env: { ...BASE, ...pod } })).toEqual(missing);
    expect(problemsOf({ text: `admin:\n  endpoint: ${ENDPOINT}\n`, env: pod })).toEqual(missing);
  });

  it('is not asked for in a pod with a key or another way, elsewhere, or by a program that finds the person', () => {
    const pod = { ...BASE, KUBERNETES_SERVICE_HOST: '10.0.0.1' };
    const typeOf = (given: Parameters<typeof load>[0]) => load(given).settings.authType;
    const { KUBERNETES_SERVICE_HOST } = pod;
    expect(typeOf({ env: { KUBERNETES_SERVICE_HOST, EAGER_API_KEY: key } })).toBe('ApiKey');
    for (const authType of ['Pkce', 'DeviceFlow', 'ServiceAccountToken'])
      expect(typeOf({ text: `admin:\n  authType: ${authType}\n`, env: pod })).toBe(authType);
    const secret = { CORE_CREDENTIALS_CLIENT_ID: 'a', CORE_CREDENTIALS_CLIENT_SECRET: 'b' };
    expect(typeOf({ env: { ...pod, ...secret } })).toBe('ClientSecret');
    expect(typeOf({ env: BASE })).toBe('Pkce');
    expect(typeOf({ env: pod, findsPerson: true })).toBe('Pkce');
    expect(problemsOf({ env: { ...pod, EAGER_API_KEY: 'broken' } }).join()).not.toContain(
      'in a pod',
    );
  });

  it('alone decides: no other variable and no setting switches to it or away from it', () => {
    const toggles = [
      'EAGER',
      'EAGER_MODE',
      'ENABLE_EAGER',
      'FLYTE_EAGER',
      'CORE_EAGER',
      '_F_EAGER',
    ];
    for (const name of toggles)
      for (const value of ['true', 'false', '0', '1']) {
        expect(load({ env: { ...BASE, [name]: value } }).settings.authType).toBe('Pkce');
        expect(load({ env: { [name]: value, EAGER_API_KEY: key } }).settings.authType).toBe(
          'ApiKey',
        );
      }
    const settings = [...listVariables(DEFAULT_BRAND).keys()].toSorted();
    expect(settings.filter((name) => /eager|api_?key/i.test(name))).toEqual([]);
    for (const injectSecret of [true, false]) {
      const text = `unionAuth:\n  injectSecret: ${injectSecret}\n`;
      expect(load({ text }).settings.authType).toBe('Pkce');
      expect(load({ text, env: { EAGER_API_KEY: key } }).settings.authType).toBe('ApiKey');
    }
  });

  it.each([
    ['not base64', CANARY],
    ['cut short', key.slice(0, -1)],
    ['three fields', encode(`h:${CANARY}:x`)],
    ['a port', encode(`h:8443:a:${CANARY}:`)],
    ['no host', encode(`h/x:a:${CANARY}:`)],
    ['no client id', encode(`h::${CANARY}:`)],
    ['no secret', encode('h:a::')],
    ['no organization', encode('h:a:b:\n')],
    ['no text', Buffer.from([255, 254, 253]).toString('base64')],
    ['too long', 'A'.repeat(9_000)],
  ])('with %s is a problem that never shows it', (_, text) => {
    const [problem] = problemsOf({ env: { EAGER_API_KEY: text } });
    expect(problem).toContain('apiKey (EAGER_API_KEY): found ');
    expect(problem).not.toContain(CANARY);
    expect(problem).not.toContain(text);
  });
});

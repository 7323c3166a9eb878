import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/testing/wire/ports';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createCommandHost } from './cli/command-host.ts';
import { Browser } from './wire/browser.ts';
import { exchange } from './wire/exchange.ts';
import { type Plane, type Service, startHostedService, startPlane } from './wire/platform.ts';
import { run, temporaryFolder } from './wire/process.ts';
import { sharedHost } from './wire/service-host.ts';

const folder = temporaryFolder();
const secretFile = join(folder.path, 'oidc_client_secret');
writeFileSync(secretFile, 'canary-secret');
afterAll(() => folder.remove());

/** Reserved for documentation (RFC 5737): no machine has it. */
const ABSENT_ADDRESS = '203.0.113.7';
const COMPLETE = {
  PUBLIC_URL: 'https://flows.example',
  OIDC_BASE_URL: 'https://idp.example',
  OIDC_CLIENT_ID: 'web-id',
  CLI_CLIENT_ID: 'cli-id',
  INTERNAL_CLIENT_ID: 'service-id',
  AUTH_TOKEN_URL: 'https://idp.example/token',
  AUTH_CLIENT_ID: 'service-id',
  OIDC_CLIENT_SECRET_FILE: secretFile,
};

const host = createCommandHost();
afterAll(() => host.stop());

/** `serve --check`; one process checks everything. */
function checkText(environment: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const { PATH = '', HOME = '' } = process.env;
  return host.run(['serve', '--check', ...args], { PATH, HOME, ...environment }, folder.path);
}

/** The configuration as `serve --check --json` prints it. */
async function check(environment: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const { code, stdout, stderr } = await checkText(environment, ['--json', ...args]);
  return {
    code,
    stderr,
    printed: JSON.parse(stdout) as {
      ok: boolean;
      config: Record<string, never>;
      warnings: unknown[];
      acceptedAudiences: Record<string, string[]>;
      problems: { key: string; file: string; line?: number; found: string; expected: string }[];
    },
  };
}

function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
}

describe('Deployment variables', () => {
  it.each([
    [
      'OIDC_BASE_URL',
      'https://other.example',
      ['auth.userAuth.openId.baseUrl', 'auth.appAuth.externalAuthServer.baseUrl'],
    ],
    ['OIDC_CLIENT_ID', 'other-web', ['auth.userAuth.openId.clientId']],
    ['CLI_CLIENT_ID', 'other-cli', ['auth.appAuth.thirdPartyConfig.flyteClient.clientId']],
    ['INTERNAL_CLIENT_ID', 'service-id', ['union.auth.clientId', 'admin.clientId']],
    ['AUTH_TOKEN_URL', 'https://other.example/token', ['union.auth.tokenUrl']],
    ['AUTH_CLIENT_ID', 'service-id', ['secrets.admin.clientId']],
  ])(
    '%s appears in the printed configuration where the requirement uses it',
    async (variable, value, keys) => {
      const { code, printed } = await check({ ...COMPLETE, [variable]: value });
      expect(code).toBe(0);
      for (const key of keys) expect(at(printed.config, key)).toBe(value);
    },
  );

  it('are a complete configuration, with PUBLIC_URL and the secret file', async () => {
    expect((await check(COMPLETE)).code).toBe(0);
  });

  it.each(['PUBLIC_URL', 'OIDC_BASE_URL', 'OIDC_CLIENT_ID', 'CLI_CLIENT_ID'] as const)(
    'without %s name what is missing, and where it can be given',
    async (variable) => {
      const { [variable]: _, ...rest } = COMPLETE;
      const { code, printed } = await check(rest);
      expect(code).toBe(1);
      expect(
        printed.problems.some(
          ({ found, expected }) => found === 'nothing' && expected.includes(variable),
        ),
      ).toBe(true);
    },
  );

  it('warn of an AUTH_CLIENT_ID that differs from INTERNAL_CLIENT_ID, with both names and values', async () => {
    const { code, printed } = await check({ ...COMPLETE, AUTH_CLIENT_ID: 'another' });
    expect(code).toBe(0);
    expect(printed.warnings).toEqual([
      expect.objectContaining({
        key: 'secrets.admin.clientId',
        variable: 'AUTH_CLIENT_ID',
        found: '"another"',
        expected: expect.stringMatching(
          /"service-id".*INTERNAL_CLIENT_ID.*auth\.separateServiceApps/,
        ),
      }),
    ]);
    expect((await check(COMPLETE)).printed.warnings).toEqual([]);
  });

  it('say nothing of it where auth.separateServiceApps says that it is meant so', async () => {
    const file = join(folder.path, 'separate.yaml');
    writeFileSync(file, 'auth: { separateServiceApps: true }\n');
    const environment = { ...COMPLETE, AUTH_CLIENT_ID: 'another' };
    const { code, printed } = await check(environment, ['--config', file]);
    expect(code).toBe(0);
    expect(printed.warnings).toEqual([]);
    expect(at(printed.config, 'secrets.admin.clientId')).toBe('another');
    expect(at(printed.config, 'union.auth.clientId')).toBe('service-id');
  });
});

describe('serve --check', () => {
  const uris = join(folder.path, 'authorized-uris.yaml');
  writeFileSync(uris, 'auth: { authorizedUris: ["http://core-admin:80", "http://Other:81"] }\n');
  const SPELLINGS = [
    'https://flows.example',
    'https://flows.example/',
    'https://flows.example:443',
    'https://flows.example:443/',
    'http://core-admin:80',
    'http://core-admin',
    'http://core-admin/',
    'http://core-admin:80/',
    'http://Other:81',
    'http://Other:81/',
  ];

  it('prints auth.authorizedUris as they were written, and every spelling of an audience that is accepted, no other', async () => {
    const { code, printed } = await check(COMPLETE, ['--config', uris]);
    expect(code).toBe(0);
    expect(at(printed.config, 'auth.authorizedUris')).toEqual([
      'http://core-admin:80',
      'http://Other:81',
    ]);
    const accepted = printed.acceptedAudiences['https://idp.example'] ?? [];
    expect(accepted.toSorted()).toEqual(SPELLINGS.toSorted());
    const { stdout } = await checkText(COMPLETE, ['--config', uris]);
    const [, list = ''] = /^Accepted as aud of a token:\n((?: {2}.*\n)+)/m.exec(stdout) ?? [];
    const lines = list.trimEnd().split('\n');
    expect(lines.map((line) => line.trim().replace(/ {2,}/, '  ')).toSorted()).toEqual(
      SPELLINGS.map((aud) => `${aud}  from https://idp.example`).toSorted(),
    );
  });
});

describe('Deployment variables on the wire', () => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane();
  });
  afterAll(() => plane.stop());

  const variables = () =>
    new Map(
      readFileSync(join(plane.state, 'deployment.env'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => /^(\w+)='(.*)'$/.exec(line)?.slice(1) as [string, string]),
    );
  const token = (form: Record<string, string>, headers: Record<string, string> = {}) =>
    exchange(variables().get('AUTH_TOKEN_URL') ?? '', {
      method: 'POST',
      body: new URLSearchParams(form).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });

  it('OIDC_BASE_URL is where /login sends the browser, and OIDC_CLIENT_ID is the client it names', async () => {
    const login = await exchange(`${plane.url}/login`);
    const location = new URL(login.location ?? '');
    expect(location.origin).toBe(variables().get('OIDC_BASE_URL'));
    expect(location.searchParams.get('client_id')).toBe(variables().get('OIDC_CLIENT_ID'));
  });

  it('INTERNAL_CLIENT_ID and AUTH_CLIENT_ID, the same, get a token with scope all at AUTH_TOKEN_URL', async () => {
    const id = variables().get('INTERNAL_CLIENT_ID') ?? '';
    expect(variables().get('AUTH_CLIENT_ID')).toBe(id);
    const secret = readFileSync(join(plane.state, 'idp', 'service-client-secret'), 'utf8');
    const basic = Buffer.from(`${id}:${secret}`).toString('base64');
    const granted = await token(
      { grant_type: 'client_credentials', scope: 'all' },
      { authorization: `Basic ${basic}` },
    );
    expect(granted.status).toBe(200);
    expect(JSON.parse(granted.body)).toMatchObject({ scope: 'all', token_type: 'Bearer' });
    const wrong = Buffer.from(`${id}:wrong`).toString('base64');
    expect(
      (
        await token(
          { grant_type: 'client_credentials', scope: 'all' },
          { authorization: `Basic ${wrong}` },
        )
      ).status,
    ).toBe(401);
  });

  it('CLI_CLIENT_ID is the public client the IdP knows, and no other', async () => {
    const authorize = (clientId: string) =>
      new Browser().visit(
        `${plane.issuer}/idp/authorize?${new URLSearchParams({
          client_id: clientId,
          response_type: 'code',
          scope: 'openid',
          redirect_uri: 'http://localhost:53593/callback',
          code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
          code_challenge_method: 'S256',
          state: 'x',
        })}`,
      );
    expect((await authorize(variables().get('CLI_CLIENT_ID') ?? '')).body).toContain(
      'name="password"',
    );
    expect((await authorize('another-client')).status).toBe(400);
  });
});

describe('Admin service settings', () => {
  let service: Service | undefined;
  afterEach(async () => {
    await service?.stop();
    service = undefined;
  });

  const file = (yaml: string) => {
    const path = join(folder.path, 'sallyport.yaml');
    mkdirSync(folder.path, { recursive: true });
    writeFileSync(path, yaml);
    return path;
  };

  it('useAuth false registers none of /login, /callback, /me and /logout, and says so at start', async () => {
    const config = file(
      'publicUrl: http://localhost:1\nserver:\n  security:\n    useAuth: false\n',
    );
    const running = await sharedHost().start(['serve', '--port', '0', '--config', config], {});
    for (const path of ['/login', '/callback', '/me', '/logout', '/auth/session']) {
      expect((await exchange(running.url + path)).status).toBe(404);
    }
    expect((await exchange(`${running.url}/healthz`)).status).toBe(200);
    await running.stop();
    expect(running.stderr()).toContain('authentication_disabled');
  });

  it('useAuth true without IdP settings ends at once and names each of them', async () => {
    const { code, stderr } = await run([
      'serve',
      '--port',
      '0',
      '--config',
      file('publicUrl: http://localhost:1\nserver:\n  security:\n    useAuth: true\n'),
    ]);
    expect(code).toBe(1);
    for (const key of ['auth.userAuth.openId.baseUrl', 'auth.userAuth.openId.clientId'])
      expect(stderr).toContain(key);
  });

  it('authServerType other than External is a named error', async () => {
    const config = file('auth:\n  appAuth:\n    authServerType: Self\n');
    const { code, printed } = await check(COMPLETE, ['--config', config]);
    expect(code).toBe(1);
    expect(printed.problems).toContainEqual(
      expect.objectContaining({
        key: 'auth.appAuth.authServerType',
        file: config,
        line: 3,
        found: expect.stringContaining('Self') as string,
        expected: expect.stringContaining('External') as string,
      }),
    );
    expect(
      (
        await check(COMPLETE, [
          '--config',
          file('auth:\n  appAuth:\n    authServerType: External\n'),
        ])
      ).code,
    ).toBe(0);
  });

  it.each([
    ['LaxMode', / SameSite=Lax/],
    ['DefaultMode', /HttpOnly$/],
  ])('sameSitePolicy %s gives its attribute', async (policy, attribute) => {
    service = await startHostedService({}, [
      '--config',
      file(`auth:\n  userAuth:\n    cookieSetting:\n      sameSitePolicy: ${policy}\n`),
    ]);
    const { setCookies } = await service.signIn(new Browser());
    expect(setCookies.find((line) => line.startsWith('core_session='))).toMatch(attribute);
  });

  it.each(['StrictMode', 'NoneMode'])(
    'sameSitePolicy %s, which would break the sign-in here, is an error',
    async (policy) => {
      const config = file(
        `auth:\n  userAuth:\n    cookieSetting:\n      sameSitePolicy: ${policy}\n`,
      );
      const { code, printed } = await check({ ...COMPLETE, PUBLIC_URL: 'http://localhost:1' }, [
        '--config',
        config,
      ]);
      expect(code).toBe(1);
      expect(printed.problems).toContainEqual(
        expect.objectContaining({ key: 'auth.userAuth.cookieSetting.sameSitePolicy', line: 4 }),
      );
    },
  );

  it('scopes, idpQueryParameter and redirectUrl change the sign-in', async () => {
    const config = file(
      'auth:\n  userAuth:\n    redirectUrl: /console\n    idpQueryParameter: realm\n    openId:\n      scopes: [openid, email]\n',
    );
    service = await startHostedService({}, ['--config', config]);
    const login = await exchange(`${service.url}/login?realm=partners&idp=ignored`);
    const { searchParams } = new URL(login.location ?? '');
    expect(searchParams.get('scope')).toBe('openid email');
    expect(searchParams.get('realm')).toBe('partners');
    expect(searchParams.has('idp')).toBe(false);
    const browser = new Browser();
    const bare = await browser.step(`${service.url}/login`);
    const landed = await browser.step(
      `${service.url}/callback?${service.idp.authorize(bare.location ?? '')}`,
    );
    expect(landed.location).toBe(`${service.url}/console`);
  });

  it('an unknown key is an error that suggests the known one', async () => {
    const config = file('auth:\n  userAuth:\n    openId:\n      clientID: x\n');
    const { code, printed } = await check(COMPLETE, ['--config', config]);
    expect(code).toBe(1);
    expect(printed.problems).toContainEqual(
      expect.objectContaining({
        file: config,
        line: 4,
        expected: expect.stringContaining('clientId') as string,
      }),
    );
  });

  it('the secret never shows, neither in the configuration nor in a problem', async () => {
    const { printed, stderr } = await check(COMPLETE);
    expect(JSON.stringify(printed) + stderr).not.toContain('canary-secret');
  });

  it('a check says where what is given came from, and how many settings there are; JSON has all of them', async () => {
    const config = file('session:\n  idleTimeout: 2h\n');
    const { code, stdout } = await checkText(COMPLETE, ['--config', config]);
    const { printed } = await check(COMPLETE, ['--config', config]);
    const origins = Object.entries(
      (printed as unknown as { origins: Record<string, string> }).origins,
    );
    const given = origins.filter(([, origin]) => origin !== 'default');
    expect(code).toBe(0);
    const lines = stdout.split('\n').map((line) => line.replaceAll(/(\S) {2,}/g, '$1  '));
    expect(lines).toEqual(
      expect.arrayContaining([
        `ok: ${origins.length} settings, ${given.length} given and the others default; --json prints all`,
        '  session.idleTimeout  from file',
        ...given.map(([key, origin]) => `  ${key}  from ${origin}`),
      ]),
    );
    expect(stdout).not.toContain('from default');
    expect(origins.length).toBeGreaterThan(given.length);
  });

  it.each([
    ['that is not there', join(folder.path, 'no-such.yaml'), 'no such file'],
    ['that is a folder', folder.path, 'a folder'],
  ])('a configuration file %s is said so', async (_, path, found) => {
    const { code, stderr } = await checkText(COMPLETE, ['--config', path]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${path}: --config: found ${found}, expected a readable YAML file\n`);
  });

  it('a secret file that is missing is a problem that names path and key, before anything starts', async () => {
    const { code, printed } = await check({
      ...COMPLETE,
      OIDC_CLIENT_SECRET_FILE: '/nowhere/oidc_client_secret',
    });
    expect(code).toBe(1);
    expect(JSON.stringify(printed.problems)).toContain('/nowhere/oidc_client_secret');
    expect(JSON.stringify(printed.problems)).toContain('oidc_client_secret');
  });

  it('a port that is taken is said in one sentence', async () => {
    service = await startHostedService();
    const { code, stderr } = await run(['serve', '--port', new URL(service.url).port], COMPLETE);
    expect(code).toBe(1);
    expect(stderr).toMatch(/SP_PORT_IN_USE .*listen\.port: port \d+ is taken/);
  });

  it.each([
    ['1', 'the port of the service', { SALLYPORT_LISTEN_HOST: ABSENT_ADDRESS }, 'listen.host'],
    ['2', 'the port of the service', { SALLYPORT_LISTEN_HOST: ABSENT_ADDRESS }, 'listen.host'],
    [
      '1',
      'that of the metrics',
      { SALLYPORT_METRICS_HOST: ABSENT_ADDRESS },
      'observe.metrics.host',
    ],
    [
      '2',
      'that of the metrics',
      { SALLYPORT_METRICS_HOST: ABSENT_ADDRESS },
      'observe.metrics.host',
    ],
  ])(
    'an address that the machine does not have is said in one sentence, with its key: %s workers, %s',
    async (workers, _, host, key) => {
      const { code, stdout, stderr } = await run(['serve', '--port', '0'], {
        ...COMPLETE,
        SALLYPORT_WORKERS: workers,
        SALLYPORT_METRICS_PORT: String(await freePort()),
        ...host,
      });
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(
        `${key}: this machine has no address ${ABSENT_ADDRESS}; use 127.0.0.1, or 0.0.0.0 for every address`,
      );
    },
  );
});

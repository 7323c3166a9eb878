import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../load-config.ts';
import { formatConfigProblem } from '../problems.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
  INTERNAL_CLIENT_ID: 'service',
};

type Block = { readonly [name: string]: unknown };

/** What is said of a file, warnings marked; empty means nothing at all. */
function judge(file: Block, env: Readonly<Record<string, string>> = {}): string[] {
  const result = loadConfig(
    { file: { path: 'c', text: stringify(file) }, env: { ...ENV, ...env }, flags: {} },
    'serve',
  );
  return result.ok
    ? result.value.warnings.map((warning) => `warning ${formatConfigProblem(warning)}`)
    : result.error.map(formatConfigProblem);
}

const cookie = (cookieSetting: Block): Block => ({ auth: { userAuth: { cookieSetting } } });
const scopes = (list: readonly string[]): Block => ({
  auth: { userAuth: { openId: { scopes: list } } },
});
const secrets = (admin: Block): Block => ({
  secrets: { admin: { clientId: 'service', ...admin } },
});
const isPublic = (issuer: string): boolean =>
  judge({}, { OIDC_BASE_URL: issuer }).some((line) =>
    line.includes('everyone can have an account'),
  );
const LOOPBACK = { PUBLIC_URL: 'http://localhost:8080' };

describe('cookieSetting.sameSitePolicy', () => {
  it('LaxMode says nothing, NoneMode and DefaultMode warn', () => {
    expect(judge(cookie({ sameSitePolicy: 'LaxMode' }))).toEqual([]);
    expect(judge(cookie({ sameSitePolicy: 'NoneMode' }))).toEqual([
      'warning c:4: auth.userAuth.cookieSetting.sameSitePolicy: found "NoneMode", expected LaxMode, unless pages of another site have to carry the session',
    ]);
    expect(judge(cookie({ sameSitePolicy: 'DefaultMode' }))).toEqual([
      'warning c:4: auth.userAuth.cookieSetting.sameSitePolicy: found "DefaultMode", expected LaxMode: without the attribute some browsers send the cookie across sites',
    ]);
  });

  it('NoneMode needs an https publicUrl', () => {
    expect(judge(cookie({ sameSitePolicy: 'NoneMode' }), LOOPBACK)).toEqual([
      'c:4: auth.userAuth.cookieSetting.sameSitePolicy: found "NoneMode", expected LaxMode: NoneMode needs an https publicUrl',
    ]);
    expect(judge(cookie({ sameSitePolicy: 'LaxMode' }), LOOPBACK)).toEqual([]);
  });

  it('StrictMode is refused with the reason', () => {
    expect(judge(cookie({ sameSitePolicy: 'StrictMode' }))).toEqual([
      'c:4: auth.userAuth.cookieSetting.sameSitePolicy: found "StrictMode", expected one of LaxMode, DefaultMode, NoneMode: with StrictMode the browser withholds the cookie on the redirect back from the identity provider, and /callback would loop',
    ]);
  });
});

describe('cookieSetting.domain', () => {
  it.each([
    ['', []],
    ['platform.example.com', ['warning']],
    ['example.com', ['warning']],
    ['EXAMPLE.com', ['warning']],
    ['ample.com', ['c:4: ']],
    ['other.com', ['c:4: ']],
    ['a.platform.example.com', ['c:4: ']],
    ['com', ['c:4: ']],
    ['.example.com', ['c:4: ']],
    ['example.com.', ['c:4: ']],
  ])('%j against platform.example.com: %j', (domain, begins) => {
    const said = judge(cookie({ domain }));
    expect(said).toHaveLength(begins.length);
    for (const begin of begins) expect(said[0]?.startsWith(begin)).toBe(true);
  });

  it('is refused where the public host is an address', () => {
    expect(judge(cookie({ domain: '0.0.1' }), { PUBLIC_URL: 'https://127.0.0.1' })).toHaveLength(1);
  });
});

describe('authServerType', () => {
  it('External says nothing, Self is refused with the reason', () => {
    expect(judge({ auth: { appAuth: { authServerType: 'External' } } })).toEqual([]);
    expect(judge({ auth: { appAuth: { authServerType: 'Self' } } })).toEqual([
      'c:3: auth.appAuth.authServerType: found "Self", expected External: Sallyport works with an external identity provider and issues no tokens itself',
    ]);
  });
});

describe('session', () => {
  it('store: local says nothing, a word that is no store is refused with the choice', () => {
    expect(judge({ session: { store: 'local' } })).toEqual([]);
    expect(judge({ session: { store: 'constructor' } })).toEqual([
      'c:2: session.store: found "constructor", expected one of local, redis',
    ]);
  });

  it('idle timeouts are at most the absolute lifetime', () => {
    const session = { idleTimeout: '2h', withoutRefreshTokenIdle: '2h', absoluteLifetime: '2h' };
    expect(judge({ session })).toEqual([]);
    expect(judge({ session: { ...session, absoluteLifetime: '1h' } })).toEqual([
      'c:2: session.idleTimeout: found "2h", expected at most session.absoluteLifetime, 1h',
      'c:3: session.withoutRefreshTokenIdle: found "2h", expected at most session.absoluteLifetime, 1h',
    ]);
  });

  it('a wrong lifetime is reported alone, without what would follow from it', () => {
    expect(judge({ session: { idleTimeout: '30d', absoluteLifetime: '1 week' } })).toHaveLength(1);
  });
});

describe('doors.me.verdictCache', () => {
  const keep = (verdictCache: string) => judge({ doors: { me: { verdictCache } } });

  it('is off by default and says nothing then', () => {
    expect(judge({})).toEqual([]);
    expect(keep('0s')).toEqual([]);
  });

  it.each(['2s', '5s', '2500ms'])('%s warns, with how much it weakens the revocation', (given) => {
    const shown = given === '2500ms' ? '2s500ms' : given;
    expect(keep(given)).toEqual([
      `warning c:3: doors.me.verdictCache: found "${shown}", expected 0s, unless an ended session may go on reading for ${shown}: nginx is allowed to keep its verdict`,
    ]);
  });

  it.each(['1s', '1ms', '1999ms'])('%s is less than nginx can count', (given) => {
    expect(keep(given)).toHaveLength(1);
    expect(keep(given)[0]).toMatch(
      /^c:3: .* expected 0s, or 2s to 5s: nginx counts whole seconds$/,
    );
  });

  it.each(['6s', '1m', '5001ms'])('%s is longer than may be promised', (given) => {
    expect(keep(given)).toEqual([
      `c:3: doors.me.verdictCache: found "${given}", expected 0s, or 2s to 5s: nginx counts whole seconds`,
    ]);
  });
});

describe('a public issuer', () => {
  it.each([
    'https://accounts.google.com',
    'https://accounts.google.com/',
    'https://ACCOUNTS.google.com',
    'https://login.microsoftonline.com/common/v2.0',
    'https://login.microsoftonline.com/organizations/v2.0',
    'https://login.microsoftonline.com/Consumers/v2.0',
    'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    'https://github.com/login/oauth',
    'https://token.actions.githubusercontent.com',
  ])('%s without a rule is refused', (issuer) => {
    expect(isPublic(issuer)).toBe(true);
  });

  it.each([
    'https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0',
    'https://idp.example.com/common',
    'https://accounts.google.com.example.com',
    'https://github.example.com',
  ])("its twin, the operator's own %s, is taken", (issuer) => {
    expect(judge({}, { OIDC_BASE_URL: issuer })).toEqual([]);
  });

  const google = { OIDC_BASE_URL: 'https://accounts.google.com' };
  it.each([
    [{ tenants: ['example.com'] }, 0],
    [{ groups: ['staff'] }, 0],
    [{ emailDomains: ['example.com'] }, 0],
    [{ clientIds: ['service'] }, 1],
    [{ tenants: [] }, 1],
  ])('with access %j gives %i problems', (access, count) => {
    expect(judge({ access }, google)).toHaveLength(count);
  });

  it('of bearer tokens alone is refused at its own key', () => {
    const externalAuthServer = { baseUrl: 'https://accounts.google.com' };
    expect(
      judge(
        {
          auth: {
            appAuth: { externalAuthServer },
            userAuth: { openId: { baseUrl: 'https://idp.example.com' }, subjectPrefix: 'people:' },
          },
          bearer: { subjectPrefix: 'apps:' },
        },
        { OIDC_BASE_URL: '' },
      ),
    ).toEqual([
      'c:4: auth.appAuth.externalAuthServer.baseUrl: found "https://accounts.google.com", where everyone can have an account, expected a rule that says who may enter: access.tenants, access.groups or access.emailDomains (access.clientIds does not concern people)',
    ]);
  });

  it('may not have its unverified e-mail addresses believed', () => {
    const access = { emailDomains: ['example.com'] };
    expect(judge({ access, emailTrusted: true }, google)).toEqual([
      'c:4: emailTrusted: found true, expected false: at an issuer where everyone can have an account, every user can choose an unverified e-mail address',
    ]);
    expect(judge({ access, emailTrusted: true })).toEqual([]);
  });

  it('asks for nothing without useAuth', () => {
    expect(judge({ server: { security: { useAuth: false } } }, google)).toEqual([]);
  });
});

describe('headers', () => {
  it('a client header the admin service does not read is refused', () => {
    const union = { auth: { authorizationMetadataKey: 'x-other' } };
    expect(judge({ union })).toEqual([
      'c:3: union.auth.authorizationMetadataKey: found "x-other", expected core-authorization, the header of auth.grpcAuthorizationHeader',
    ]);
    expect(judge({ union, auth: { grpcAuthorizationHeader: 'X-Other' } })).toEqual([]);
  });

  it('authorization is read beside it, unless only the configured header is', () => {
    const connection = {
      authorizationHeader: 'Authorization',
      tokenUrl: 'https://idp.example.com/token',
    };
    const executions = { app: { adminClient: { connection } } };
    expect(judge({ executions })).toEqual([]);
    expect(judge({ executions, bearer: { onlyConfiguredHeader: true } })).toEqual([
      'c:5: executions.app.adminClient.connection.authorizationHeader: found "authorization", expected core-authorization, the header of auth.grpcAuthorizationHeader',
    ]);
  });

  it('bearer headers cannot be stripped, others can', () => {
    expect(
      judge({ stripHeaders: ['X-Remote-User', 'Core_Authorization', 'authorization'] }),
    ).toEqual([
      'c:3: stripHeaders[1]: found "core-authorization", expected no bearer header: whether a backend receives it is decided by its route',
      'c:4: stripHeaders[2]: found "authorization", expected no bearer header: whether a backend receives it is decided by its route',
    ]);
    expect(judge({ stripHeaders: ['x_forwarded_user'] })).toEqual([]);
  });

  it('two claims may not share a header', () => {
    expect(judge({ claimHeaders: ['tenant_id', 'Tenant-Id'] })).toEqual([
      'c:3: claimHeaders[1]: found "Tenant-Id", expected a claim whose header differs from that of "tenant_id"',
    ]);
    expect(judge({ claimHeaders: ['tenant_id', 'tenant'] })).toEqual([]);
  });
});

describe('sign-in', () => {
  it('needs the scope openid', () => {
    expect(judge(scopes(['openid']))).toEqual([]);
    expect(judge(scopes(['profile']))).toEqual([
      'c:4: auth.userAuth.openId.scopes: found no openid among them, expected openid, which makes it a sign-in',
    ]);
  });

  it.each([
    ['/', 0],
    ['/console', 0],
    ['https://platform.example.com/console', 0],
    ['https://console.example.com/', 0],
    ['https://other.example.com/', 1],
    ['//evil.example', 1],
    ['/\\evil.example', 1],
    ['console', 1],
    ['/login', 1],
    ['javascript:alert(1)', 1],
  ])('redirectUrl %s gives %i problems', (redirectUrl, count) => {
    const redirectOrigins = ['https://console.example.com'];
    expect(judge({ redirectOrigins, auth: { userAuth: { redirectUrl } } })).toHaveLength(count);
  });

  it('a socket that every user of the machine may connect to, and whose word counts, gives a warning', () => {
    const socket = (socketMode: string, trustedProxies: readonly string[]) =>
      judge({ trustedProxies, server: { listen: 'unix:/run/s', socketMode } });
    expect(socket('0666', ['unix'])).toEqual([
      expect.stringMatching(/^warning c:\d+: server\.socketMode: found "0666", expected "0660"/),
    ]);
    expect(socket('0660', ['unix'])).toEqual([]);
    expect(socket('0666', ['10.0.0.0/8'])).toEqual([]);
  });

  it('a proxy range that holds every address gives a warning', () => {
    expect(judge({ trustedProxies: ['10.0.0.0/8', '::1', 'fd00::/8'] })).toEqual([]);
    expect(judge({ trustedProxies: ['unix'] })).toEqual([
      'c:2: trustedProxies[0]: found "unix", expected server.listen beside it: there is no Unix socket to come by',
    ]);
    expect(judge({ trustedProxies: ['unix'], server: { listen: 'unix:/run/s' } })).toEqual([]);
    expect(judge({ trustedProxies: ['10.0.0.0/8', '0.0.0.0/0'] })).toEqual([
      'warning c:3: trustedProxies[1]: found "0.0.0.0/0", expected the addresses of your proxies: this range believes every client',
    ]);
  });
});

describe('requirement, "Errors": internal services', () => {
  it('control plane and data plane share one client ID, also when the file says so', () => {
    const file = { secrets: { admin: { clientId: 'b' } } };
    expect(
      judge({ ...file, union: { auth: { clientId: 'b' } } }, { INTERNAL_CLIENT_ID: '' }),
    ).toEqual([]);
    expect(judge(file)).toEqual([
      'warning c:3: secrets.admin.clientId: found "b", expected "service" as in union.auth.clientId (AUTH_CLIENT_ID equals INTERNAL_CLIENT_ID), unless auth.separateServiceApps: true says that they are two service apps',
    ]);
    expect(judge({ ...file, auth: { separateServiceApps: true } })).toEqual([]);
  });

  it('web, native and service app with one client ID give a warning that names both places', () => {
    const expected = 'three applications';
    expect(judge({}, { OIDC_CLIENT_ID: 'native' })).toEqual([
      `warning environment: auth.userAuth.openId.clientId (OIDC_CLIENT_ID): found "native", which auth.appAuth.thirdPartyConfig.flyteClient.clientId (CLI_CLIENT_ID) is, too, expected the client ID of the web app: the web, the native and the service app are ${expected}`,
    ]);
    expect(judge({}, { OIDC_CLIENT_ID: 'service' })).toHaveLength(1);
    expect(judge({}, { CLI_CLIENT_ID: 'service' })).toHaveLength(1);
    expect(judge({}, { OIDC_CLIENT_ID: 'service', CLI_CLIENT_ID: 'service' })).toHaveLength(3);
    expect(judge({}, { INTERNAL_CLIENT_ID: '' })).toEqual([]);
    expect(
      judge({ server: { security: { useAuth: false } } }, { OIDC_CLIENT_ID: 'native' }),
    ).toEqual(judge({ server: { security: { useAuth: false } } }));
  });

  it('what is switched off gives a warning that names the failure to come', () => {
    const off = {
      union: { auth: { enable: false } },
      secrets: { admin: { enable: false }, adminOauthClientCredentials: { enabled: false } },
    };
    expect(judge(off)).toEqual([
      'warning c:3: union.auth.enable: found false, expected true: without it internal services receive 401',
      'warning c:6: secrets.admin.enable: found false, expected true: without it operator and propeller cannot authenticate',
      'warning c:8: secrets.adminOauthClientCredentials.enabled: found false, expected true: without it the scheduler fails to start',
    ]);
    expect(judge({ ...off, server: { security: { useAuth: false } } })).toEqual([]);
  });

  it('union.auth.enable without server.security.useAuth is said to contradict it, where the file enables it', () => {
    const server = { security: { useAuth: false } };
    expect(judge({ server, union: { auth: { enable: true } } })).toEqual([
      'warning c:3: server.security.useAuth: found false, expected true, as union.auth.enable is: without it no token is checked, no metadata served, and protected routes stay closed',
    ]);
    expect(judge({ server })).toEqual([]);
  });

  it('a secret to be created needs a stand-in value', () => {
    expect(judge(secrets({ create: true, clientSecret: 'stand-in' }))).toEqual([]);
    expect(judge(secrets({ create: false }))).toEqual([]);
    expect(judge(secrets({ create: true }))).toEqual([
      'c:2: secrets.admin.clientSecret: found nothing, expected a stand-in value, which create: true needs',
    ]);
  });

  it('a headless client needs a client ID, an interactive one does not', () => {
    const none = { INTERNAL_CLIENT_ID: '' };
    expect(judge({ admin: { authType: 'Pkce', endpoint: 'dns:///a.example' } }, none)).toEqual([]);
    expect(judge({ admin: { authType: 'ClientSecret' } })).toEqual([]);
    expect(judge({ admin: { authType: 'ClientSecret' } }, none)).toEqual([
      'c:1: admin.clientId (INTERNAL_CLIENT_ID): found nothing, expected a client ID, which authType ClientSecret needs',
    ]);
  });
});

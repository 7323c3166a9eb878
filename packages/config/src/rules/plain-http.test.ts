import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readClientConfig } from '../client-config.ts';
import { loadConfig } from '../load-config.ts';
import { formatConfigProblem } from '../problems.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
};
const INSIDE = 'http://keycloak.identity.svc.cluster.local:8080';
const ISSUER = `${INSIDE}/realms/core`;
const WEAKENED =
  'expected https: what is sent there can be read on the way, and what it answers can be forged';

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

const nest = (key: string, value: unknown): Block =>
  key.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Block;

const further = (entry: Block): Block => ({
  subjectPrefix: 'first|',
  issuers: [{ issuer: 'https://other.example.com', subjectPrefix: 'other|', ...entry }],
});

const PLACES: readonly (readonly [key: string, place: string, file: Block])[] = [
  ...[
    'auth.userAuth.openId.baseUrl',
    'auth.appAuth.externalAuthServer.metadataUrl',
    'admin.tokenUrl',
  ].map((key) => [key, key, nest(key, ISSUER)] as const),
  [
    'auth.appAuth.externalAuthServer.baseUrl',
    'auth.appAuth.externalAuthServer.baseUrl',
    {
      bearer: { subjectPrefix: 'first|' },
      auth: {
        userAuth: { subjectPrefix: 'web|' },
        appAuth: { externalAuthServer: { baseUrl: ISSUER } },
      },
    },
  ],
  ['bearer.issuers', 'bearer.issuers[0].issuer', { bearer: further({ issuer: ISSUER }) }],
  ['bearer.issuers', 'bearer.issuers[0].metadataUrl', { bearer: further({ metadataUrl: ISSUER }) }],
  [
    'bearer.introspection.endpoint',
    'bearer.introspection.endpoint',
    { bearer: { introspection: { endpoint: ISSUER, clientId: 'rs', clientSecretFile: '/s' } } },
  ],
  [
    'union.auth.tokenUrl',
    'union.auth.tokenUrl',
    { union: { auth: { clientId: 'service', tokenUrl: ISSUER } } },
  ],
  [
    'executions.app.adminClient.connection.tokenUrl',
    'executions.app.adminClient.connection.tokenUrl',
    nest('executions.app.adminClient.connection', { clientId: 'service', tokenUrl: ISSUER }),
  ],
];

describe('plain http to an identity provider', () => {
  it.each(PLACES)(
    'in %s is refused beyond the loopback, and the setting is named',
    (key, place, file) => {
      const { OIDC_BASE_URL: _, ...env } = ENV;
      const base = key === 'auth.userAuth.openId.baseUrl' ? env : ENV;
      const result = loadConfig(
        { file: { path: 'c', text: stringify(file) }, env: base, flags: {} },
        'serve',
      );
      expect(
        result.ok ? [] : result.error.map((problem) => [problem.key, problem.expected]),
      ).toEqual([
        [
          place,
          `https, or http on localhost, 127.0.0.1 or [::1]; dangerouslyAllowPlainHttpTo: [${INSIDE}] allows it`,
        ],
      ]);
    },
  );

  it.each(PLACES)(
    'in %s is taken with a warning where its origin is allowed',
    (key, place, file) => {
      const { OIDC_BASE_URL: _, ...env } = ENV;
      const base = key === 'auth.userAuth.openId.baseUrl' ? env : ENV;
      const text = stringify({ ...file, dangerouslyAllowPlainHttpTo: [INSIDE] });
      const result = loadConfig({ file: { path: 'c', text }, env: base, flags: {} }, 'serve');
      expect(
        result.ok ? result.value.warnings.map((warning) => warning.key) : result.error,
      ).toEqual([place]);
    },
  );

  it.each([
    ['another port', 'http://keycloak.identity.svc.cluster.local:8081'],
    ['another name', 'http://keycloak.identity.svc.cluster.local.evil.example:8080'],
    ['the same name with TLS', 'http://keycloak.identity.svc.cluster.local'],
  ])('is allowed to one origin and not to %s', (_, origin) => {
    const said = judge({ dangerouslyAllowPlainHttpTo: [origin] }, { OIDC_BASE_URL: ISSUER });
    expect(said[0]).toContain(`environment: auth.userAuth.openId.baseUrl (OIDC_BASE_URL): found`);
    expect(said[0]).toContain(`dangerouslyAllowPlainHttpTo: [${INSIDE}] allows it`);
  });

  it('warns at each start of each issuer, and once of an origin that metadata may name', () => {
    const other = `${INSIDE}/realms/other`;
    const file = {
      dangerouslyAllowPlainHttpTo: [INSIDE, 'http://keys.identity:81'],
      auth: { appAuth: { externalAuthServer: { metadataUrl: '.well-known/x' } } },
      bearer: further({ issuer: other }),
    };
    expect(judge(file, { OIDC_BASE_URL: ISSUER })).toEqual([
      `warning c:3: dangerouslyAllowPlainHttpTo[1]: found "http://keys.identity:81", ${WEAKENED}`,
      `warning c:11: bearer.issuers[0].issuer: found ${JSON.stringify(other)}, ${WEAKENED}`,
      `warning environment: auth.userAuth.openId.baseUrl (OIDC_BASE_URL): found ${JSON.stringify(ISSUER)}, ${WEAKENED}`,
    ]);
  });

  it('on the loopback and https say nothing', () => {
    for (const issuer of [
      'http://127.0.0.1:9000',
      'http://localhost/oidc',
      'https://idp.example.com',
    ])
      expect(judge({}, { OIDC_BASE_URL: issuer })).toEqual([]);
  });

  it.each([
    ['an https origin', 'https://idp.example.com'],
    ['the loopback', 'http://localhost:9000'],
    ['a path', ISSUER],
    ['a pattern', 'http://*.svc.cluster.local'],
    ['user information', 'http://ada@keycloak:8080'],
  ])('is not allowed by %s, which is no origin that needs it', (_, origin) => {
    expect(judge({ dangerouslyAllowPlainHttpTo: [origin] })[0]).toContain(
      'c:2: dangerouslyAllowPlainHttpTo[0]: found ',
    );
  });

  it('is read from a variable, origins separated by commas', () => {
    const env = {
      OIDC_BASE_URL: ISSUER,
      SALLYPORT_DANGEROUSLY_ALLOW_PLAIN_HTTP_TO: `${INSIDE}, http://other:80`,
    };
    expect(judge({}, env)).toHaveLength(2);
  });
});

describe('plain http from a client to a token endpoint', () => {
  const read = (text: string) => {
    const { problems, warnings } = readClientConfig({
      file: { path: 'c', text },
      env: {},
      flags: {},
      variables: new Map(),
    });
    return { problems: problems.map(({ key }) => key), warnings: warnings.map(({ key }) => key) };
  };

  it('is refused beyond the loopback, and taken with a warning where its origin is allowed', () => {
    const block = `admin:\n  tokenUrl: ${ISSUER}\n`;
    expect(read(block)).toEqual({ problems: ['admin.tokenUrl'], warnings: [] });
    expect(read(`${block}dangerouslyAllowPlainHttpTo: [${INSIDE}]\n`)).toEqual({
      problems: [],
      warnings: ['admin.tokenUrl'],
    });
  });
});

/** Walks the schema, so that a new key is covered without a line here; a new kind needs one below. */

import { describe, expect, it } from 'vitest';
import { loadConfig } from '../load-config.ts';
import type { ConfigProblem } from '../problems.ts';
import { NAMES_BY_BLOCK, type PlacedSetting, SETTING_BY_KEY, SETTINGS } from './schema.ts';

const REQUIREMENT_KEYS = [
  'server.security.useAuth',
  'auth.grpcAuthorizationHeader',
  'auth.httpAuthorizationHeader',
  'auth.authorizedUris',
  'auth.appAuth.authServerType',
  'auth.appAuth.externalAuthServer.baseUrl',
  'auth.appAuth.thirdPartyConfig.flyteClient.clientId',
  'auth.appAuth.thirdPartyConfig.flyteClient.redirectUri',
  'auth.appAuth.thirdPartyConfig.flyteClient.scopes',
  'auth.userAuth.openId.baseUrl',
  'auth.userAuth.openId.clientId',
  'auth.userAuth.openId.scopes',
  'auth.userAuth.cookieSetting.sameSitePolicy',
  'auth.userAuth.cookieSetting.domain',
  'auth.userAuth.idpQueryParameter',
  'admin.clientId',
  'admin.clientSecretLocation',
  'union.auth.enable',
  'union.auth.type',
  'union.auth.clientId',
  'union.auth.clientSecretLocation',
  'union.auth.tokenUrl',
  'union.auth.authorizationMetadataKey',
  'union.auth.scopes',
  'union.auth.tokenRefreshWindow',
  'executions.app.adminClient.connection.authorizationHeader',
  'executions.app.adminClient.connection.clientId',
  'executions.app.adminClient.connection.clientSecretLocation',
  'executions.app.adminClient.connection.tokenUrl',
  'executions.app.adminClient.connection.scopes',
  'unionAuth.injectSecret',
  'unionAuth.secretName',
  'secrets.admin.enable',
  'secrets.admin.create',
  'secrets.admin.clientId',
  'secrets.admin.clientSecret',
  'secrets.adminOauthClientCredentials.enabled',
  'secrets.adminOauthClientCredentials.clientSecret',
  'admin.endpoint',
  'admin.authType',
  'admin.insecure',
];

/** A right value for every required key; every other key is written with its default. */
const REQUIRED_VALUES: Readonly<Record<string, unknown>> = {
  publicUrl: 'https://platform.example.com',
  'auth.appAuth.externalAuthServer.baseUrl': 'https://idp.example.com',
  'auth.appAuth.thirdPartyConfig.flyteClient.clientId': 'native',
  'auth.userAuth.openId.baseUrl': 'https://idp.example.com',
  'auth.userAuth.openId.clientId': 'web',
  'admin.clientId': 'service',
  'admin.endpoint': 'dns:///platform.example.com',
  'union.auth.clientId': 'service',
  'union.auth.tokenUrl': 'https://idp.example.com/token',
  'executions.app.adminClient.connection.clientId': 'service',
  'executions.app.adminClient.connection.tokenUrl': 'https://idp.example.com/token',
  'secrets.admin.clientId': 'service',
  'session.keyRingFile': '/var/lib/sallyport/key-ring.json',
};

/** Values that are not of a kind, each with what `found` has to say. A mapping is none of any kind. */
const WRONG_VALUES: Readonly<
  Record<string, readonly (readonly [value: unknown, found: string])[]>
> = {
  boolean: [
    ['yes', '"yes"'],
    [1, '1'],
  ],
  integer: [
    ['many', '"many"'],
    [1.5, '1.5'],
    [-1, '-1'],
  ],
  'integer or auto': [
    ['many', '"many"'],
    ['AUTO', '"AUTO"'],
    [1.5, '1.5'],
    [0, '0'],
    [65, '65'],
  ],
  share: [
    ['half', '"half"'],
    [1.01, '1.01'],
    [-0.5, '-0.5'],
  ],
  enum: [
    ['NoSuchMode', '"NoSuchMode"'],
    [7, '7'],
  ],
  duration: [
    [300, '300'],
    ['5 minutes', '"5 minutes"'],
  ],
  secret: [
    [12_345_678, 'a number'],
    [true, 'a boolean'],
  ],
  'Unix socket': [
    ['/run/sallyport.sock', '"/run/sallyport.sock"'],
    ['unix:run/sallyport.sock', '"unix:run/sallyport.sock"'],
    ['unix:/run/../etc/x', '"unix:/run/../etc/x"'],
  ],
  group: [
    [101, '101'],
    ['a b', '"a b"'],
  ],
  path: [
    ['hunter2', 'a string of 7 characters'],
    [12_345_678, 'a number'],
  ],
  'variable name': [
    ['hunter-2', 'a string of 8 characters'],
    [12_345_678, 'a number'],
  ],
  string: [
    [7, '7'],
    [true, 'true'],
    ['a\tb', String.raw`"a\tb"`],
  ],
  URL: [
    ['idp', '"idp"'],
    [7, '7'],
  ],
  'URL or path': [
    ['//idp', '"//idp"'],
    [7, '7'],
  ],
  'path or URL': [
    [' /', '" /"'],
    [7, '7'],
  ],
  'header name': [
    ['a b', '"a b"'],
    ['cookie', '"cookie"'],
  ],
  domain: [
    ['no dot', '"no dot"'],
    [7, '7'],
  ],
};

interface Written {
  readonly text: string;
  readonly lineOf: (key: string) => number | undefined;
}

/** Writes keys as block-style YAML, each on a line of its own, values as JSON. */
function write(values: ReadonlyMap<string, unknown>): Written {
  const lines: string[] = [];
  const lineByKey = new Map<string, number>();
  for (const [key, value] of [...values].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const names = key.split('.');
    for (const [depth, name] of names.entries()) {
      const path = names.slice(0, depth + 1).join('.');
      if (lineByKey.has(path)) continue;
      const suffix = depth === names.length - 1 ? ` ${JSON.stringify(value)}` : '';
      lineByKey.set(path, lines.push(`${'  '.repeat(depth)}${name}:${suffix}`));
    }
  }
  return { text: `${lines.join('\n')}\n`, lineOf: (key) => lineByKey.get(key) };
}

function problemsOf({ text }: Written): readonly ConfigProblem[] {
  const result = loadConfig({ file: { path: 'core.yaml', text }, env: {}, flags: {} }, 'serve');
  return result.ok ? [] : result.error;
}

function complete(): Map<string, unknown> {
  return new Map(
    SETTINGS.map(({ key, setting }) => [
      key,
      REQUIRED_VALUES[key] ?? setting.kind.print(setting.fallback),
    ]),
  );
}

/** What a file needs at least, and nothing that has a default: a tenth of the time of a complete one. */
function sufficient(): Map<string, unknown> {
  return new Map(Object.entries(REQUIRED_VALUES));
}

function without(key: string): Map<string, unknown> {
  const values = complete();
  values.delete(key);
  return values;
}

function wrongValuesOf({ setting: { kind } }: PlacedSetting): (readonly [unknown, string])[] {
  const mapping = [{ password: 'hunter2' }, 'a mapping'] as const;
  if (kind.name.startsWith('list of '))
    return [mapping, ['one', '"one"'], [7, '7'], [null, 'null']];
  return [
    mapping,
    [['hunter2'], 'a list of 1'],
    [null, 'null'],
    ...(WRONG_VALUES[kind.name] ?? []),
  ];
}

describe('every key of the requirement', () => {
  it.each(REQUIREMENT_KEYS)('%s is in the schema', (key) => {
    expect(SETTING_BY_KEY.has(key)).toBe(true);
  });

  it('and every kind has wrong values here', () => {
    const kinds = new Set(SETTINGS.map(({ setting }) => setting.kind.name));
    for (const kind of kinds)
      expect(kind in WRONG_VALUES || kind.startsWith('list of ')).toBe(true);
  });
});

describe('a file with every key', () => {
  it('is taken', () => {
    expect(problemsOf(write(complete()))).toEqual([]);
  });

  it('and so is one with the required keys alone', () => {
    expect(problemsOf(write(sufficient()))).toEqual([]);
  });
});

describe.each(SETTINGS.map((placed) => [placed.key, placed] as const))('%s', (key, placed) => {
  const { kind, required } = placed.setting;
  const parent = key.slice(0, Math.max(0, key.lastIndexOf('.')));

  it.each(wrongValuesOf(placed))('is refused as %j', (value, found) => {
    const written = write(sufficient().set(key, value));
    const problems = problemsOf(written);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({
      file: 'core.yaml',
      line: written.lineOf(key),
      key,
      found,
    });
    expect(problems[0]?.expected.startsWith(kind.expected)).toBe(true);
  });

  if (kind.values !== undefined)
    it('names its whole choice when the value is none of it', () => {
      const [problem] = problemsOf(write(sufficient().set(key, 'NoSuchValue')));
      for (const value of kind.values ?? []) expect(problem?.expected).toContain(value);
    });

  if (kind.name.startsWith('list of ') && kind.name !== 'list of mappings')
    it('reports the position of a wrong entry', () => {
      const written = write(sufficient().set(key, [{ password: 'hunter2' }]));
      expect(problemsOf(written)).toMatchObject([
        { file: 'core.yaml', line: written.lineOf(key), key: `${key}[0]`, found: 'a mapping' },
      ]);
    });

  it(required === undefined ? 'may be left out' : 'is reported when it is left out', () => {
    const written = write(without(key));
    const problems = problemsOf(written);
    if (required === undefined && key !== 'admin.clientId') expect(problems).toEqual([]);
    else
      expect(problems).toMatchObject([
        {
          file: 'core.yaml',
          line: written.lineOf(parent) ?? 1,
          key,
          found: 'nothing',
          expected: expect.stringContaining(
            key === 'admin.clientId' ? 'authType ClientSecret' : kind.expected,
          ),
        },
      ]);
  });

  it('is refused as a wrong flag, in the same words', () => {
    const flags = { [key]: { password: 'hunter2' } };
    const { text } = write(sufficient());
    const result = loadConfig({ file: { path: 'core.yaml', text }, env: {}, flags }, 'serve');
    expect(result).toMatchObject({
      ok: false,
      error: [{ file: 'flag', line: undefined, key, found: 'a mapping' }],
    });
  });

  const { variable } = placed.setting;
  if (variable !== undefined)
    it(`is refused as a wrong ${variable}, in the same words`, () => {
      const { text } = write(sufficient());
      // Blanks alone are an empty list.
      const wrong = kind.name.startsWith('list of ') ? 'a b' : ' ';
      const result = loadConfig(
        { file: { path: 'core.yaml', text }, env: { [variable]: wrong }, flags: {} },
        'serve',
      );
      const found = kind.isWithheld === true ? 'a string of 1 characters' : JSON.stringify(wrong);
      expect(result).toMatchObject({
        ok: false,
        error: [{ file: 'environment', line: undefined, variable, found }],
      });
    });

  it('is reported when it is misspelled, with the right spelling', () => {
    const misspelled = `${key}x`;
    const written = write(sufficient().set(misspelled, 'hunter2'));
    expect(problemsOf(written)).toEqual([
      {
        file: 'core.yaml',
        line: written.lineOf(misspelled),
        key: misspelled,
        found: 'an unknown key',
        expected: `${key} (did you mean that?)`,
      },
    ]);
  });

  it('is reported when it is given twice', () => {
    const value = complete().get(key);
    const written = write(sufficient().set(key, value));
    const lines = written.text.split('\n');
    const line = written.lineOf(key) ?? 0;
    lines.splice(line, 0, lines[line - 1] ?? '');
    expect(problemsOf({ ...written, text: lines.join('\n') })).toMatchObject([
      { line: line + 1, key, found: `the key again, first on line ${line}` },
    ]);
  });
});

describe.each([...NAMES_BY_BLOCK.keys()].filter((block) => block !== ''))('block %s', (block) => {
  it.each([
    ['hunter2', 'a string of 7 characters'],
    [['hunter2'], 'a list'],
    [7, 'a number'],
  ])('is refused as %j', (value, found) => {
    const rest = [...sufficient()].filter(([key]) => !key.startsWith(`${block}.`));
    const written = write(new Map([...rest, [block, value]]));
    expect(problemsOf(written)).toContainEqual({
      file: 'core.yaml',
      line: written.lineOf(block),
      key: block,
      found,
      expected: `a mapping of ${NAMES_BY_BLOCK.get(block)?.join(', ')}`,
    });
  });
});

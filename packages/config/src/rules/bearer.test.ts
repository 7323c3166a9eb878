import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../load-config.ts';
import { formatConfigProblem } from '../problems.ts';

const ENV = {
  PUBLIC_URL: 'https://platform.example.com',
  OIDC_BASE_URL: 'https://idp.example.com',
  OIDC_CLIENT_ID: 'web',
  CLI_CLIENT_ID: 'native',
};

/** What is said of a file, warnings marked; empty means nothing at all. */
function judge(file: unknown, env: Readonly<Record<string, string>> = {}): readonly string[] {
  const result = loadConfig(
    { file: { path: 'c', text: stringify(file) }, env: { ...ENV, ...env }, flags: {} },
    'serve',
  );
  return result.ok
    ? result.value.warnings.map((warning) => `warning ${formatConfigProblem(warning)}`)
    : result.error.map(formatConfigProblem);
}

const OTHER = { issuer: 'https://other.example.com', subjectPrefix: 'two:' };
const THIRD = { issuer: 'https://third.example.com', subjectPrefix: 'three:' };

function issuers(...list: readonly object[]) {
  return { bearer: { subjectPrefix: 'one:', issuers: list } };
}

describe('several issuers', () => {
  it('with a prefix each say nothing', () => {
    expect(judge(issuers(OTHER, THIRD))).toEqual([]);
  });

  it('need a prefix each, the first one too', () => {
    expect(judge({ bearer: { issuers: [OTHER] } })).toEqual([
      'c:1: bearer.subjectPrefix: found nothing, expected a prefix, which every one of several issuers needs',
    ]);
    expect(judge(issuers(OTHER, { issuer: THIRD.issuer }))).toEqual([
      'c:6: bearer.issuers[1].subjectPrefix: found nothing, expected a prefix, which every one of several issuers needs',
    ]);
  });

  it.each(['one:', 'one:x', 'one', 'o'])(
    'may not have the prefix %s beside one:, because a subject could then be read as another’s',
    (subjectPrefix) => {
      expect(judge(issuers({ ...OTHER, subjectPrefix }))).toEqual([
        `c:5: bearer.issuers[0].subjectPrefix: found "${subjectPrefix}", expected a prefix that does not begin like that of bearer.subjectPrefix`,
      ]);
    },
  );

  it.each([
    [
      'two further ones',
      [OTHER, { ...THIRD, issuer: OTHER.issuer }],
      6,
      1,
      'bearer.issuers[0].issuer',
    ],
    [
      'that of the platform',
      [{ ...OTHER, issuer: ENV.OIDC_BASE_URL }],
      4,
      0,
      'auth.appAuth.externalAuthServer.baseUrl',
    ],
  ] as const)('may not be the same: %s', (_, list, line, index, taken) => {
    expect(judge(issuers(...list))).toEqual([
      `c:${line}: bearer.issuers[${index}].issuer: found "${list[index]?.issuer}", expected another issuer than that of ${taken}`,
    ]);
  });

  it('may differ in a trailing slash alone', () => {
    expect(judge(issuers({ ...OTHER, issuer: `${ENV.OIDC_BASE_URL}/` }))).toEqual([]);
  });
});

describe('a single issuer', () => {
  it('needs no prefix and may have one', () => {
    expect(judge({})).toEqual([]);
    expect(judge({ bearer: { subjectPrefix: 'one:' } })).toEqual([]);
  });
});

describe('the sign-in', () => {
  const elsewhere = { appAuth: { externalAuthServer: { baseUrl: 'https://apps.example.com' } } };

  it('at another issuer than that of the tokens needs prefixes of both', () => {
    const both = { ...elsewhere, userAuth: { subjectPrefix: 'people:' } };
    expect(judge({ auth: both, bearer: { subjectPrefix: 'apps:' } })).toEqual([]);
    expect(judge({ auth: elsewhere })).toHaveLength(2);
    const [finding = ''] = judge({ auth: elsewhere, bearer: { subjectPrefix: 'apps:' } });
    expect(finding).toContain('auth.userAuth.subjectPrefix');
  });

  it('at the same issuer has the same one: its subjects are the same people', () => {
    const [finding = ''] = judge({
      auth: { userAuth: { subjectPrefix: 'people:' } },
      bearer: { subjectPrefix: 'apps:' },
    });
    expect(finding).toContain('the same as bearer.subjectPrefix');
  });
});

describe('audiences', () => {
  const allowed = (...allowedAudience: readonly string[]) => ({
    auth: { appAuth: { externalAuthServer: { allowedAudience } } },
  });

  it.each(['web', 'native'])('may not be the client ID %s, whose id_tokens have it', (audience) => {
    expect(judge(allowed('api', audience))).toEqual([
      `c:6: auth.appAuth.externalAuthServer.allowedAudience[1]: found "${audience}", the client ID of an application people sign in with, expected an audience of access tokens: that one is of id_tokens, which are refused`,
    ]);
    expect(judge(issuers({ ...OTHER, audiences: [audience] }))[0]).toMatch(
      /^c:7: bearer\.issuers\[0\]\.audiences\[0\]: /,
    );
  });

  it('may be anything else', () => {
    expect(judge(allowed('api', 'webapp'))).toEqual([]);
  });
});

describe('requiredScopes', () => {
  it('are all by default, and none at all is reported', () => {
    expect(judge({ bearer: { requiredScopes: ['all'] } })).toEqual([]);
    expect(judge({ bearer: { requiredScopes: [] } })).toEqual([
      'warning c:2: bearer.requiredScopes: found an empty list, expected a scope: without one every token for the audience is admitted',
    ]);
  });
});

describe('introspection', () => {
  const complete = {
    endpoint: 'https://idp.example.com/introspect',
    clientId: 'admin',
    clientSecretFile: '/etc/secrets/client_secret',
  };

  it('is complete or not there', () => {
    expect(judge({ bearer: { introspection: complete } })).toEqual([]);
    expect(judge({ bearer: { introspection: { requestsPerSecond: 10 } } })).toEqual([]);
  });

  it.each(['endpoint', 'clientId', 'clientSecretFile'])('without %s is reported', (name) => {
    const introspection = { ...complete, [name]: '' };
    expect(judge({ bearer: { introspection } })).toEqual([
      expect.stringMatching(
        new RegExp(`^c:\\d: bearer\\.introspection\\.${name}: found nothing, expected a value`),
      ),
    ]);
  });
});

describe('a further issuer where everyone can have an account', () => {
  const github = {
    issuer: 'https://token.actions.githubusercontent.com',
    subjectPrefix: 'github:',
  };

  it('needs a rule that says who may enter', () => {
    expect(judge(issuers(github))).toEqual([
      expect.stringContaining('c:4: bearer.issuers[0].issuer: found "https://token.actions'),
    ]);
    expect(judge({ ...issuers(github), access: { tenants: ['t'] } })).toEqual([]);
  });

  it('cannot be trusted with unverified addresses', () => {
    const file = issuers({ ...github, emailTrusted: true });
    expect(judge({ ...file, access: { tenants: ['t'] } })).toEqual([
      expect.stringContaining('c:6: bearer.issuers[0].emailTrusted: found true'),
    ]);
  });
});

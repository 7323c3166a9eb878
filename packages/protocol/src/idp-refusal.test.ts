import { describe, expect, it } from 'vitest';
import {
  classifyIdpRefusal,
  type IdpAnswer,
  type IdpRefusalCause,
  type IdpRefusalProbes,
} from './idp-refusal.ts';

const answer = (status: number, error: string): IdpAnswer => ({ status, error });

/** What a provider answers: to a wrong secret, an unknown client, a made-up refresh token, and a grant it does not allow. */
interface Provider {
  readonly wrongSecret: IdpAnswer;
  readonly unknownClient: IdpAnswer;
  readonly deadToken: IdpAnswer;
  readonly grantNotAllowed: IdpAnswer;
}

const PROVIDERS: Readonly<Record<'keycloak' | 'embedded' | 'okta' | 'entra', Provider>> = {
  keycloak: {
    wrongSecret: answer(401, 'unauthorized_client'),
    unknownClient: answer(401, 'invalid_client'),
    deadToken: answer(400, 'invalid_grant'),
    grantNotAllowed: answer(401, 'unauthorized_client'),
  },
  embedded: {
    wrongSecret: answer(401, 'invalid_client'),
    unknownClient: answer(401, 'invalid_client'),
    deadToken: answer(400, 'invalid_grant'),
    grantNotAllowed: answer(400, 'invalid_request'),
  },
  okta: {
    wrongSecret: answer(401, 'invalid_client'),
    unknownClient: answer(401, 'invalid_client'),
    deadToken: answer(400, 'invalid_grant'),
    grantNotAllowed: answer(400, 'unauthorized_client'),
  },
  entra: {
    wrongSecret: answer(401, 'invalid_client'),
    unknownClient: answer(400, 'unauthorized_client'),
    deadToken: answer(400, 'invalid_grant'),
    grantNotAllowed: answer(400, 'unauthorized_client'),
  },
};

/** What the probes of a client see there. */
function probesAt(
  { wrongSecret, unknownClient, deadToken, grantNotAllowed }: Provider,
  client: 'right' | 'secret_wrong' | 'unknown' | 'public',
): IdpRefusalProbes {
  const pairs: Readonly<Record<typeof client, readonly [IdpAnswer, IdpAnswer]>> = {
    right: [deadToken, wrongSecret],
    secret_wrong: [wrongSecret, wrongSecret],
    unknown: [unknownClient, unknownClient],
    public: [deadToken, deadToken],
  };
  const [withSecret, withMadeUp] = pairs[client];
  return {
    otherGrant: withSecret,
    otherGrantMadeUpSecret: withMadeUp,
    madeUpClient: unknownClient,
    grantAlone: grantNotAllowed,
    knownClientMadeUpSecret: wrongSecret,
  };
}

describe('The cause of a refusal', () => {
  it.each<readonly [keyof typeof PROVIDERS, IdpRefusalCause]>([
    ['keycloak', 'secret_wrong'],
    ['embedded', 'client_or_secret_wrong'],
    ['okta', 'client_or_secret_wrong'],
    ['entra', 'secret_wrong'],
  ])('%s: a wrong secret is %s', (name, cause) => {
    const provider = PROVIDERS[name];
    expect(classifyIdpRefusal(provider.wrongSecret, probesAt(provider, 'secret_wrong'))).toBe(
      cause,
    );
  });

  it.each<readonly [keyof typeof PROVIDERS, IdpRefusalCause]>([
    ['keycloak', 'client_unknown'],
    ['embedded', 'client_or_secret_wrong'],
    ['okta', 'client_or_secret_wrong'],
    ['entra', 'client_unknown'],
  ])('%s: an unknown client is %s', (name, cause) => {
    const provider = PROVIDERS[name];
    expect(classifyIdpRefusal(provider.unknownClient, probesAt(provider, 'unknown'))).toBe(cause);
  });

  it.each(Object.entries(PROVIDERS))(
    '%s: a right secret whose grant is not allowed is that, whatever the code',
    (_, provider) => {
      expect(classifyIdpRefusal(provider.grantNotAllowed, probesAt(provider, 'right'))).toBe(
        'grant_not_allowed',
      );
    },
  );

  it('a client whose secret makes no difference, and that is served, is public', () => {
    const { keycloak } = PROVIDERS;
    expect(classifyIdpRefusal(keycloak.grantNotAllowed, probesAt(keycloak, 'public'))).toBe(
      'client_is_public',
    );
  });

  it.each<readonly [number, string, IdpRefusalCause]>([
    [400, 'access_denied', 'not_in_access_policy'],
    [400, 'invalid_scope', 'scope_unknown'],
    [400, 'invalid_target', 'audience_unknown'],
    [400, 'unsupported_grant_type', 'grant_not_supported'],
    [400, 'invalid_grant', 'dead_grant'],
    [400, 'not_allowed', 'offline_access_not_allowed'],
    [400, 'invalid_request', 'request_refused'],
    [429, 'invalid_client', 'rate_limited'],
    [503, '', 'idp_fails'],
    [404, '', 'request_refused'],
  ])('%i %s is %s without a probe', (status, error, cause) => {
    expect(classifyIdpRefusal(answer(status, error))).toBe(cause);
  });

  it.each<readonly [number, string, IdpRefusalCause]>([
    [401, 'invalid_client', 'client_or_secret_wrong'],
    [400, 'invalid_client', 'client_or_secret_wrong'],
    [401, 'unauthorized_client', 'client_or_secret_wrong'],
    [400, 'unauthorized_client', 'grant_not_allowed'],
    [401, '', 'client_or_secret_wrong'],
  ])('%i %s is no more than %s without a probe', (status, error, cause) => {
    expect(classifyIdpRefusal(answer(status, error))).toBe(cause);
  });

  it('a request with nothing to be wrong but its grant is about the grant, once the client proved itself', () => {
    const { wrongSecret } = PROVIDERS.embedded;
    const refused = answer(400, 'invalid_request');
    const proven = {
      otherGrant: answer(400, 'invalid_grant'),
      otherGrantMadeUpSecret: wrongSecret,
    };
    expect(classifyIdpRefusal(refused, { ...proven, grantAlone: refused })).toBe(
      'grant_not_allowed',
    );
    expect(classifyIdpRefusal(refused, proven)).toBe('request_refused');
    expect(
      classifyIdpRefusal(refused, { ...proven, otherGrant: refused, grantAlone: refused }),
    ).toBe('request_refused');
    expect(classifyIdpRefusal(refused, { grantAlone: refused })).toBe('request_refused');
    expect(
      classifyIdpRefusal(refused, { ...proven, grantAlone: answer(400, 'invalid_scope') }),
    ).toBe('request_refused');
  });

  it('a provider that was asked about no known client is not believed to distinguish the two', () => {
    const { keycloak } = PROVIDERS;
    const { knownClientMadeUpSecret: _, ...probes } = probesAt(keycloak, 'unknown');
    expect(classifyIdpRefusal(keycloak.unknownClient, probes)).toBe('client_or_secret_wrong');
  });
});

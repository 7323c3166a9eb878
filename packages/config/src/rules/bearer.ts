/**
 * Bearer tokens: issuers must be distinct, and audiences must be of this platform.
 *
 * @module
 */

import type { Config } from '../config.ts';
import { describeFound } from '../problems.ts';
import type { Finding, Rule } from './rule.ts';

const FIRST_ISSUER = 'auth.appAuth.externalAuthServer.baseUrl';
const SIGN_IN_ISSUER = 'auth.userAuth.openId.baseUrl';
const ALLOWED_AUDIENCE = 'auth.appAuth.externalAuthServer.allowedAudience';
const WEB_CLIENT = 'auth.userAuth.openId.clientId';
const NATIVE_CLIENT = 'auth.appAuth.thirdPartyConfig.flyteClient.clientId';
const ISSUERS = 'bearer.issuers';
const PREFIX = 'bearer.subjectPrefix';
const SIGN_IN_PREFIX = 'auth.userAuth.subjectPrefix';
const SCOPES = 'bearer.requiredScopes';
const INTROSPECTION = 'bearer.introspection';
const INTROSPECTION_KEYS = ['endpoint', 'clientId', 'clientSecretFile'] as const;

/** A token is looked up by its issuer, so an issuer is configured once. */
export const DISTINCT_ISSUERS_RULE: Rule = {
  keys: [FIRST_ISSUER, SIGN_IN_ISSUER, ISSUERS],
  check: ({ config }) => {
    const keyByIssuer = new Map<string, string>([
      [config.auth.userAuth.openId.baseUrl, SIGN_IN_ISSUER],
      [config.auth.appAuth.externalAuthServer.baseUrl, FIRST_ISSUER],
    ]);
    return config.bearer.issuers.flatMap(({ issuer }, index) => {
      const key = `${ISSUERS}[${index}].issuer`;
      const taken = keyByIssuer.get(issuer);
      if (taken === undefined) keyByIssuer.set(issuer, key);
      return taken === undefined
        ? []
        : [{ key, found: describeFound(issuer), expected: `another issuer than that of ${taken}` }];
    });
  },
};

/**
 * With two issuers each needs a prefix, and none may begin with another: else a subject could be
 * chosen at one issuer that reads like one of the other's.
 */
export const SUBJECT_PREFIX_RULE: Rule = {
  keys: [ISSUERS, PREFIX, SIGN_IN_PREFIX, FIRST_ISSUER, SIGN_IN_ISSUER],
  check: ({ config: { bearer, auth } }) => {
    const signIn = auth.userAuth.subjectPrefix;
    const isOneIssuer = auth.userAuth.openId.baseUrl === auth.appAuth.externalAuthServer.baseUrl;
    if (isOneIssuer && signIn !== bearer.subjectPrefix)
      return [
        {
          key: SIGN_IN_PREFIX,
          found: describeFound(signIn),
          expected: `the same as ${PREFIX}: sign-in and tokens are of one issuer, and their subjects the same people`,
        },
      ];
    if (isOneIssuer && bearer.issuers.length === 0) return [];
    const prefixes = [
      { key: PREFIX, prefix: bearer.subjectPrefix },
      ...(isOneIssuer ? [] : [{ key: SIGN_IN_PREFIX, prefix: signIn }]),
      ...bearer.issuers.map(({ subjectPrefix }, index) => ({
        key: `${ISSUERS}[${index}].subjectPrefix`,
        prefix: subjectPrefix,
      })),
    ];
    return prefixes.flatMap(({ key, prefix }, index): Finding[] => {
      if (prefix === '')
        return [
          { key, found: 'nothing', expected: 'a prefix, which every one of several issuers needs' },
        ];
      const other = prefixes
        .slice(0, index)
        .find((each) => each.prefix.startsWith(prefix) || prefix.startsWith(each.prefix));
      return other === undefined || other.prefix === ''
        ? []
        : [
            {
              key,
              found: describeFound(prefix),
              expected: `a prefix that does not begin like that of ${other.key}`,
            },
          ];
    });
  },
};

/** The id_tokens of an interactive client have its id as audience; they are no bearer tokens. */
export const INTERACTIVE_AUDIENCE_RULE: Rule = {
  keys: [ALLOWED_AUDIENCE, ISSUERS, WEB_CLIENT, NATIVE_CLIENT],
  check: ({ config }) =>
    listAudiences(config).flatMap(({ key, audience }) =>
      audience === config.auth.userAuth.openId.clientId ||
      audience === config.auth.appAuth.thirdPartyConfig.flyteClient.clientId
        ? [
            {
              key,
              found: `${describeFound(audience)}, the client ID of an application people sign in with`,
              expected: 'an audience of access tokens: that one is of id_tokens, which are refused',
            },
          ]
        : [],
    ),
};

/** An introspection endpoint is asked with credentials (RFC 7662 section 2.1), so all three or none. */
export const INTROSPECTION_RULE: Rule = {
  keys: INTROSPECTION_KEYS.map((name) => `${INTROSPECTION}.${name}`),
  check: ({ config }) => {
    const { introspection } = config.bearer;
    const missing = INTROSPECTION_KEYS.filter((name) => introspection[name] === '');
    if (missing.length === INTROSPECTION_KEYS.length) return [];
    return missing.map((name) => ({
      key: `${INTROSPECTION}.${name}`,
      found: 'nothing',
      expected: `a value: ${INTROSPECTION_KEYS.join(', ')} are given together`,
    }));
  },
};

/** Without a scope every token for the audience is enough. */
export const REQUIRED_SCOPES_RULE: Rule = {
  keys: [SCOPES],
  check: ({ config }) =>
    config.bearer.requiredScopes.length > 0
      ? []
      : [
          {
            key: SCOPES,
            found: 'an empty list',
            expected: 'a scope: without one every token for the audience is admitted',
            isWarning: true,
          },
        ],
};

function listAudiences({
  auth,
  bearer,
}: Config): readonly { readonly key: string; readonly audience: string }[] {
  return [
    ...auth.appAuth.externalAuthServer.allowedAudience.map((audience, index) => ({
      key: `${ALLOWED_AUDIENCE}[${index}]`,
      audience,
    })),
    ...bearer.issuers.flatMap(({ audiences }, issuer) =>
      audiences.map((audience, index) => ({
        key: `${ISSUERS}[${issuer}].audiences[${index}]`,
        audience,
      })),
    ),
  ];
}

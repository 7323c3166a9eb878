/**
 * The identity provider's settings: public issuers and scopes.
 *
 * @module
 */

import type { Config } from '../config.ts';
import { describeFound } from '../problems.ts';
import type { Finding, Rule } from './rule.ts';

const SIGN_IN_ISSUER = 'auth.userAuth.openId.baseUrl';
const BEARER_ISSUER = 'auth.appAuth.externalAuthServer.baseUrl';
const FURTHER_ISSUERS = 'bearer.issuers';
const SCOPES = 'auth.userAuth.openId.scopes';
const EMAIL_TRUSTED = 'emailTrusted';

/** Hosts of public providers, where everyone can get an account on every path. */
const PUBLIC_HOSTS: ReadonlySet<string> = new Set([
  'accounts.google.com',
  'api.login.yahoo.com',
  'appleid.apple.com',
  'bitbucket.org',
  'discord.com',
  'github.com',
  'gitlab.com',
  'login.salesforce.com',
  'slack.com',
  'token.actions.githubusercontent.com',
  'www.amazon.com',
  'www.facebook.com',
  'www.linkedin.com',
]);

/** At Entra the first path segment is the tenant; these mean every tenant, or every private account. */
const ENTRA_HOSTS: ReadonlySet<string> = new Set([
  'login.microsoft.com',
  'login.microsoftonline.com',
  'login.windows.net',
  'sts.windows.net',
]);
const ENTRA_PUBLIC_TENANTS: ReadonlySet<string> = new Set([
  '9188040d-6c67-4c5b-b112-36a304b66dad',
  'common',
  'consumers',
  'organizations',
]);

/**
 * Whether an issuer is public: everyone can get an account there. Knows the well-known ones; any other
 * issuer counts as the operator's own.
 */
function isPublicIssuer(issuer: string): boolean {
  const url = URL.parse(issuer);
  if (url === null) return false;
  const tenant = url.pathname.split('/')[1]?.toLowerCase() ?? '';
  return (
    PUBLIC_HOSTS.has(url.hostname) ||
    (ENTRA_HOSTS.has(url.hostname) && ENTRA_PUBLIC_TENANTS.has(tenant))
  );
}

/** A public issuer admits the world unless a rule says which people may enter. */
export const PUBLIC_ISSUER_RULE: Rule = {
  keys: [
    'server.security.useAuth',
    SIGN_IN_ISSUER,
    BEARER_ISSUER,
    FURTHER_ISSUERS,
    'access.tenants',
    'access.groups',
    'access.emailDomains',
    EMAIL_TRUSTED,
  ],
  check: ({ config }) => {
    const issuers = listIssuers(config).filter(({ issuer }) => isPublicIssuer(issuer));
    if (!config.server.security.useAuth || issuers.length === 0) return [];
    const findings: Finding[] = [];
    const { tenants, groups, emailDomains } = config.access;
    if (tenants.length + groups.length + emailDomains.length === 0) {
      findings.push(
        ...issuers.map(({ key, issuer }) => ({
          key,
          found: `${describeFound(issuer)}, where everyone can have an account`,
          expected:
            'a rule that says who may enter: access.tenants, access.groups or access.emailDomains (access.clientIds does not concern people)',
        })),
      );
    }
    const trusting = issuers.filter(({ emailTrusted }) => emailTrusted);
    return [
      ...findings,
      ...[...new Set(trusting.map(({ trustedBy }) => trustedBy))].map((key) => ({
        key,
        found: 'true',
        expected:
          'false: at an issuer where everyone can have an account, every user can choose an unverified e-mail address',
      })),
    ];
  },
};

interface ConfiguredIssuer {
  readonly key: string;
  readonly issuer: string;
  readonly emailTrusted: boolean;
  /** The key that says so. */
  readonly trustedBy: string;
}

function listIssuers({ auth, bearer, emailTrusted }: Config): readonly ConfiguredIssuer[] {
  const signIn = auth.userAuth.openId.baseUrl;
  const first = auth.appAuth.externalAuthServer.baseUrl;
  const own = { emailTrusted, trustedBy: EMAIL_TRUSTED };
  return [
    { key: SIGN_IN_ISSUER, issuer: signIn, ...own },
    ...(first === signIn ? [] : [{ key: BEARER_ISSUER, issuer: first, ...own }]),
    ...bearer.issuers.map((each, index) => ({
      key: `${FURTHER_ISSUERS}[${index}].issuer`,
      issuer: each.issuer,
      emailTrusted: each.emailTrusted,
      trustedBy: `${FURTHER_ISSUERS}[${index}].emailTrusted`,
    })),
  ];
}

/** Without the scope `openid` there is no id_token (OpenID Connect Core 1.0 section 3.1.2.1). */
export const OPENID_SCOPE_RULE: Rule = {
  keys: [SCOPES],
  check: ({ config }) =>
    config.auth.userAuth.openId.scopes.includes('openid')
      ? []
      : [
          {
            key: SCOPES,
            found: 'no openid among them',
            expected: 'openid, which makes it a sign-in',
          },
        ],
};

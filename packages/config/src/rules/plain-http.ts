/**
 * Plain http to an identity provider: refused beyond the loopback, unless it is allowed by name.
 *
 * @module
 */

import type { Config } from '../config.ts';
import { mayConnect } from '../plain-http.ts';
import { describeFound } from '../problems.ts';
import type { Finding, Rule } from './rule.ts';

/** The setting that allows it. */
export const PLAIN_HTTP_KEY = 'dangerouslyAllowPlainHttpTo';

/** A URL of an identity provider, and where it stands. */
interface PlacedUrl {
  readonly key: string;
  readonly url: string;
  /** Each issuer gives a warning, also where several share an origin. */
  readonly isIssuer?: true;
}

/** An attacker on a plain-http connection to an identity provider can sign in as anyone. */
export const PLAIN_HTTP_RULE: Rule = {
  keys: [PLAIN_HTTP_KEY],
  check: ({ config, originOf }) =>
    findPlainHttp(
      [...listServerUrls(config), ...listClientUrls(config)].filter(
        // A derived value is reported at the key that it is derived from.
        ({ key }) => key.includes('[') || originOf(key) !== 'default',
      ),
      config.dangerouslyAllowPlainHttpTo,
    ),
};

/**
 * Finds URLs on plain http beyond the loopback: a problem each, or a warning where the origin is
 * allowed. An allowed origin that no URL is of warns, too, because metadata may name it.
 *
 * @param urls - Absolute or empty; issuers before the endpoints that may be theirs.
 * @param allowed - Of {@link PLAIN_HTTP_KEY}.
 */
export function findPlainHttp(
  urls: readonly PlacedUrl[],
  allowed: readonly string[],
): readonly Finding[] {
  const findings: Finding[] = [];
  const reported = new Set<string>();
  for (const { key, url: text, isIssuer } of urls) {
    const url = URL.parse(text);
    if (url === null || mayConnect(url, [])) continue;
    if (!mayConnect(url, allowed)) {
      findings.push({
        key,
        found: describeFound(text),
        expected: `https, or http on localhost, 127.0.0.1 or [::1]; ${PLAIN_HTTP_KEY}: [${url.origin}] allows it`,
      });
    } else if (!reported.has(isIssuer === true ? text : url.origin)) {
      findings.push(toWarning(key, text));
    }
    reported.add(text).add(url.origin);
  }
  for (const [index, origin] of allowed.entries())
    if (!reported.has(origin)) findings.push(toWarning(`${PLAIN_HTTP_KEY}[${index}]`, origin));
  return findings;
}

/** URLs that internal services and clients send credentials to. */
export function listClientUrls({
  admin,
  executions,
  union,
}: Pick<Config, 'admin' | 'executions' | 'union'>): readonly PlacedUrl[] {
  return [
    { key: 'admin.tokenUrl', url: admin.tokenUrl },
    { key: 'union.auth.tokenUrl', url: union.auth.tokenUrl },
    {
      key: 'executions.app.adminClient.connection.tokenUrl',
      url: executions.app.adminClient.connection.tokenUrl,
    },
  ];
}

/** A further issuer's place. */
function placeOf(index: number, name: string): string {
  return `bearer.issuers[${index}].${name}`;
}

function listServerUrls({ auth, bearer }: Config): readonly PlacedUrl[] {
  const first = auth.appAuth.externalAuthServer;
  return [
    { key: 'auth.userAuth.openId.baseUrl', url: auth.userAuth.openId.baseUrl, isIssuer: true },
    { key: 'auth.appAuth.externalAuthServer.baseUrl', url: first.baseUrl, isIssuer: true },
    ...bearer.issuers.map(
      ({ issuer: url }, index): PlacedUrl => ({
        key: placeOf(index, 'issuer'),
        url,
        isIssuer: true,
      }),
    ),
    { key: 'auth.appAuth.externalAuthServer.metadataUrl', url: first.metadataUrl },
    ...bearer.issuers.map(({ metadataUrl: url }, index) => ({
      key: placeOf(index, 'metadataUrl'),
      url,
    })),
    { key: 'bearer.introspection.endpoint', url: bearer.introspection.endpoint },
  ];
}

function toWarning(key: string, url: string): Finding {
  const expected =
    'https: what is sent there can be read on the way, and what it answers can be forged';
  return { key, found: describeFound(url), expected, isWarning: true };
}

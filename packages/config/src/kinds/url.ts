/**
 * Kinds of URLs: the public origin, issuers, endpoints, audiences.
 *
 * @module
 */

import { accept, isLoopbackHost, type Result } from '@sallyport/protocol';
import { mayConnect } from '../plain-http.ts';
import { type Kind, type ValueProblem, wrong } from './kind.ts';
import { textKind } from './text.ts';

const HOST = /^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?|\[[0-9a-f:.]+\])$/;

/** `https`, or `http` on a loopback host. */
const SECURE_URL = 'https, or http on localhost, 127.0.0.1 or [::1]';

type UrlCheck = (url: URL, text: string) => string | undefined;

/**
 * Makes a kind of absolute http(s) URL without user information.
 *
 * @param expected - What it is, completing "expected …".
 * @param check - Says what else is expected when it is not met.
 * @param keep - What to keep of it; by default the text as written, because issuers and redirect
 *   URIs are compared byte for byte.
 */
function urlKind(
  expected: string,
  check: UrlCheck,
  keep: (url: URL, text: string) => string = (_, text) => text,
): Kind<string> {
  return textKind({
    name: 'URL',
    expected,
    check: (text): Result<string, readonly ValueProblem[]> => {
      const url = parseHttpUrl(text);
      if (url === undefined) return wrong(expected);
      if (url.username !== '' || url.password !== '')
        return wrong(`${expected}, without user information`);
      const unmet = check(url, text);
      return unmet === undefined ? accept(keep(url, text)) : wrong(`${expected}: ${unmet}`);
    },
  });
}

/** Parses an absolute http(s) URL written out in full; WHATWG repairs (`https:host`, `\`) do not count. */
function parseHttpUrl(text: string): URL | undefined {
  if (!/^https?:\/\/[^/\\?#]/i.test(text) || /[\s\\]/.test(text)) return undefined;
  const url = URL.parse(text);
  return url !== null && HOST.test(url.hostname) ? url : undefined;
}

const needsTls: UrlCheck = (url) => (mayConnect(url, []) ? undefined : SECURE_URL);

const needsPermission: UrlCheck = (url) =>
  url.protocol === 'http:' && !isLoopbackHost(url.hostname)
    ? undefined
    : 'https and the loopback need no permission';

const isBare: UrlCheck = (_, text) =>
  text.includes('?') || text.includes('#') ? 'no query and no fragment' : undefined;

const isOrigin: UrlCheck = (url, text) =>
  url.pathname === '/' ? isBare(url, text) : 'an origin only, without a path';

const hasNoFragment: UrlCheck = (_, text) => (text.includes('#') ? 'no fragment' : undefined);

const all =
  (...checks: readonly UrlCheck[]): UrlCheck =>
  (url, text) => {
    for (const check of checks) {
      const unmet = check(url, text);
      if (unmet !== undefined) return unmet;
    }
    return undefined;
  };

/** An origin such as `https://platform.example.com`, kept as WHATWG serialises it. */
export const originKind: Kind<string> = urlKind(
  'an origin such as https://platform.example.com',
  all(isOrigin, needsTls),
  (url) => url.origin,
);

/** An origin that plain http is allowed to: one beyond this machine, as WHATWG serialises it. */
export const plainHttpOriginKind: Kind<string> = urlKind(
  'an origin such as http://keycloak.identity.svc.cluster.local:8080',
  all(isOrigin, needsPermission),
  (url) => url.origin,
);

/**
 * An issuer (OpenID Connect Discovery 1.0 section 3), kept byte for byte, a trailing `/` included.
 * Whether plain http is allowed there is a rule's to say.
 */
export const issuerKind: Kind<string> = urlKind(
  'an issuer URL such as https://idp.example.com',
  isBare,
);

/**
 * An endpoint of the IdP; may have a query (RFC 6749 section 3.2). Whether plain http is allowed
 * there is a rule's to say.
 */
export const endpointKind: Kind<string> = urlKind(
  'an endpoint URL such as https://idp.example.com/token',
  hasNoFragment,
);

/** Where a collector takes OTLP over HTTP; in-cluster http addresses included, as spans hold no secret. */
export const collectorKind: Kind<string> = urlKind(
  'a URL such as http://collector:4318/v1/traces',
  isBare,
);

/** A native app's redirect URI (RFC 8252 section 7.3), kept byte for byte. */
export const redirectUriKind: Kind<string> = urlKind(
  'a redirect URI such as http://localhost:53593/callback',
  all(hasNoFragment, needsTls),
);

/** An audience that is a URL, in-cluster http addresses included; kept character by character. */
export const audienceUriKind: Kind<string> = urlKind(
  'a URL such as http://admin.cloud-cp.svc.cluster.local:80',
  isBare,
);

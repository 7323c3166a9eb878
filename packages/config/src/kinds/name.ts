/**
 * Kinds of names on the wire: headers, query parameters, hosts, address ranges.
 *
 * @module
 */

import { isIP } from 'node:net';
import {
  accept,
  canonicalHeaderName,
  findApiKeySecret,
  HOP_BY_HOP_HEADERS,
  isRemovedHeader,
} from '@sallyport/protocol';
import { type Kind, wrong } from './kind.ts';
import { patternKind, textKind } from './text.ts';

/** Headers that mean something else already: reading a bearer from them would mix two meanings. */
const TAKEN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'content-length',
  'content-type',
  'cookie',
  'forwarded',
  'host',
  'origin',
  'set-cookie',
  'user-agent',
]);

/** Headers without which no backend can answer; cookies of ours are removed one by one. */
const NEEDED_HEADERS: ReadonlySet<string> = new Set([
  'content-length',
  'content-type',
  'cookie',
  'host',
]);

/** Query parameters of `/login`, `/callback` and of the authorization request (RFC 6749, RFC 7636, OIDC Core). */
const TAKEN_PARAMETERS: ReadonlySet<string> = new Set([
  'account',
  'acr_values',
  'audience',
  'claims',
  'client_id',
  'client_secret',
  'code',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'display',
  'error',
  'error_description',
  'error_uri',
  'grant_type',
  'id_token',
  'id_token_hint',
  'iss',
  'login_hint',
  'max_age',
  'mode',
  'nonce',
  'post_logout_redirect_uri',
  'prompt',
  'redirect_uri',
  'redirect_url',
  'request',
  'request_uri',
  'resource',
  'response_mode',
  'response_type',
  'scope',
  'session_state',
  'state',
  'ui_locales',
]);

const BEARER_HEADER = 'the name of a header: letters, digits and -';

/**
 * The header a bearer travels in, kept in lower case.
 *
 * No `_`: proxies drop such names, or read them as `-` (CVE-2025-64484). No `-bin` and `grpc-`:
 * gRPC gives those a meaning.
 */
export const bearerHeaderKind: Kind<string> = textKind({
  name: 'header name',
  expected: BEARER_HEADER,
  check: (text) => {
    const name = text.toLowerCase();
    if (!/^[a-z][a-z0-9-]{0,63}$/.test(name)) return wrong(BEARER_HEADER);
    if (isTakenHeader(name)) return wrong(`${BEARER_HEADER}; not one with another meaning`);
    return accept(name);
  },
});

const STRIPPED_HEADER = 'the name of a header that backends do not need';

/** A header to remove before a backend sees it, kept in `canonicalHeaderName`'s spelling. */
export const strippedHeaderKind: Kind<string> = textKind({
  name: 'header name',
  expected: STRIPPED_HEADER,
  check: (text) => {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(text)) return wrong(STRIPPED_HEADER);
    const name = canonicalHeaderName(text);
    return NEEDED_HEADERS.has(name) || HOP_BY_HOP_HEADERS.has(name)
      ? wrong(STRIPPED_HEADER)
      : accept(name);
  },
});

function isTakenHeader(name: string): boolean {
  return (
    TAKEN_HEADERS.has(name) ||
    HOP_BY_HOP_HEADERS.has(name) ||
    isRemovedHeader(name) ||
    /^(?:grpc-|sec-)|-bin$/.test(name)
  );
}

const PARAMETER = 'the name of a query parameter that OAuth and Sallyport do not use themselves';

/** A query parameter that is copied to the IdP; it must not be able to change the request itself. */
export const queryParameterKind: Kind<string> = textKind({
  name: 'string',
  expected: PARAMETER,
  check: (text) =>
    /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(text) && !TAKEN_PARAMETERS.has(text.toLowerCase())
      ? accept(text)
      : wrong(PARAMETER),
});

/** A host name without port, kept in lower case. */
export const domainKind: Kind<string> = textKind({
  name: 'domain',
  expected: 'a domain such as example.com',
  check: (text) => {
    const domain = text.toLowerCase();
    return domain.length <= 253 &&
      /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/.test(domain)
      ? accept(domain)
      : wrong('a domain such as example.com');
  },
});

/** What to listen on: an IP address or a host name. */
export const listenHostKind: Kind<string> = patternKind(
  'string',
  'an IP address or host name to listen on',
  /^(?:[0-9a-fA-F:.]+|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)$/,
);

const ADDRESS_RANGE = 'an IP address, or a range such as 10.0.0.0/8';

/** An IP address or CIDR range. */
export const addressRangeKind: Kind<string> = textKind({
  name: 'address range',
  expected: ADDRESS_RANGE,
  check: (text) => {
    const [address = '', prefix, ...rest] = text.split('/');
    const bits = isIP(address) === 6 ? 128 : 32;
    const isRange =
      isIP(address) !== 0 &&
      !address.includes('%') &&
      rest.length === 0 &&
      (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits));
    return isRange ? accept(text) : wrong(ADDRESS_RANGE);
  },
});

const TRUSTED_PROXY = `${ADDRESS_RANGE}, or unix`;

/** A proxy by its address, or `unix` for the peer of a Unix socket, which has none. */
export const trustedProxyKind: Kind<string> = textKind({
  name: 'address range',
  expected: TRUSTED_PROXY,
  check: (text) =>
    text === 'unix' || addressRangeKind.parse(text).ok ? accept(text) : wrong(TRUSTED_PROXY),
});

/** Longest path of a socket that the system takes is 107; it is bound under a longer one first. */
const SOCKET_PATH_MAX_LENGTH = 80;
const UNIX_SOCKET = `unix: and an absolute path without . and .., of at most ${SOCKET_PATH_MAX_LENGTH} letters, digits and . _ - /`;

/** A Unix socket, spelt as nginx spells it. */
export const unixSocketKind: Kind<string> = textKind({
  name: 'Unix socket',
  expected: UNIX_SOCKET,
  check: (text) =>
    text.length <= 'unix:'.length + SOCKET_PATH_MAX_LENGTH &&
    /^unix:(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+)+$/.test(text)
      ? accept(text)
      : wrong(UNIX_SOCKET),
});

/** A group of the system, by name or number. */
export const groupKind: Kind<string> = patternKind(
  'group',
  'the name or the number of a group, in quotes',
  /^(?:[a-z_][a-z0-9_-]{0,31}|\d{1,10})$/,
);

const SERVER_ADDRESS = 'an address such as redis.example.com:6379';

/** Host and port of a server that is connected to; an IPv6 address stands in brackets. */
export const serverAddressKind: Kind<string> = textKind({
  name: 'address',
  expected: SERVER_ADDRESS,
  check: (text) => {
    const [, host = '', port = ''] =
      /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?):(\d{1,5})$/.exec(text) ??
      [];
    const isHost = host.startsWith('[') ? isIP(host.slice(1, -1)) === 6 : host !== '';
    return isHost && Number(port) >= 1 && Number(port) <= 65_535
      ? accept(text)
      : wrong(SERVER_ADDRESS);
  },
});

const ENDPOINT = 'an endpoint such as dns:///platform.example.com';

/**
 * Where clients find the platform: `dns:///host`, `host:port` (gRPC name syntax) or
 * `https://host:port`. A path is refused: the platform is a whole origin.
 */
export const clientEndpointKind: Kind<string> = patternKind(
  'string',
  ENDPOINT,
  /^(?:dns:\/\/\/|https?:\/\/)?(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?\/?$/,
);

const SECRET_NAME =
  'a name that is a key of a Kubernetes Secret, and in lower case with - for _ the name of one, such as EAGER_API_KEY';

/** Name and key of a Kubernetes Secret in one; see `findApiKeySecret`. */
export const secretNameKind: Kind<string> = textKind({
  name: 'string',
  expected: SECRET_NAME,
  check: (text) => (findApiKeySecret(text).ok ? accept(text) : wrong(SECRET_NAME)),
});

/** The name of a Kubernetes label: an optional prefix that is a DNS-1123 subdomain, `/`, and a name. */
export const labelNameKind: Kind<string> = patternKind(
  'string',
  'the name of a Kubernetes label, such as example.com/name',
  /^(?:(?=[^/]{1,253}\/)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/,
);

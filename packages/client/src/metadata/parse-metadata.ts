/**
 * From the two metadata answers to what a client may act on.
 *
 * @module
 */

import { mayConnect } from '@sallyport/config';
import { accept, HOP_BY_HOP_HEADERS, type Result, refuse } from '@sallyport/protocol';
import type { PlatformMetadata } from '../platform-metadata.ts';

/** What is wrong with an answer, completing "the platform's metadata …". */
export type MetadataRefusal = string;

/** Member of an issuer's metadata (RFC 9207 section 3). */
export const ISS_PARAMETER = 'authorization_response_iss_parameter_supported';
const TEXT_MAX_LENGTH = 2_048;
const LIST_MAX_LENGTH = 100;
/** Where neither the platform nor a setting names one; what existing clients fall back to. */
const FALLBACK_HEADER = 'authorization';

/**
 * Parses the answers of `GetOAuth2Metadata` and `GetPublicClientConfig`.
 *
 * Members may be spelled as in protobuf JSON (`tokenEndpoint`) or as in RFC 8414 (`token_endpoint`);
 * protobuf leaves out what is empty. Endpoints are https, or http where {@link isSafeUrl} allows it.
 * Does not check that they are the issuer's: `confirmMetadata` does.
 *
 * @param oauth2 - Parsed JSON, untrusted.
 * @param publicClient - Parsed JSON, untrusted.
 * @param dangerouslyAllowPlainHttpTo - Of this client's own settings; the platform cannot allow it.
 */
export function parseMetadata(
  oauth2: unknown,
  publicClient: unknown,
  dangerouslyAllowPlainHttpTo: readonly string[] = [],
): Result<PlatformMetadata, MetadataRefusal> {
  if (!isRecord(oauth2) || !isRecord(publicClient)) return refuse('is no JSON object');
  const problems: string[] = [];
  const text = (from: Members, name: string): string => {
    const value = member(from, name);
    if (value === undefined || value === null || value === '') return '';
    if (
      typeof value === 'string' &&
      value.length <= TEXT_MAX_LENGTH &&
      /^[\x21-\x7e]+$/.test(value)
    )
      return value;
    problems.push(`has a ${name} that is no plain text`);
    return '';
  };
  const url = (name: string, isRequired: boolean): string => {
    const value = text(oauth2, name);
    if (value === '') {
      if (isRequired) problems.push(`lacks ${name}`);
      return '';
    }
    if (isSafeUrl(value, dangerouslyAllowPlainHttpTo)) return value;
    problems.push(`has a ${name} that is neither https nor http on this machine`);
    return '';
  };
  const list = (from: Members, name: string): readonly string[] => {
    const value = member(from, name);
    if (value === undefined || value === null) return [];
    const isList =
      Array.isArray(value) &&
      value.length <= LIST_MAX_LENGTH &&
      value.every((entry) => typeof entry === 'string' && /^[\x21-\x7e]{1,256}$/.test(entry));
    if (isList) return value as string[];
    problems.push(`has ${name} that is no list of words`);
    return [];
  };

  const header = text(publicClient, 'authorization_metadata_key').toLowerCase();
  if (header !== '' && (!/^[a-z][a-z0-9-]{0,63}$/.test(header) || isReserved(header)))
    problems.push('has an authorization_metadata_key that is no header name');
  const metadata: PlatformMetadata = {
    issuer: url('issuer', true),
    isIssuerNamed: member(oauth2, ISS_PARAMETER) === true,
    authorizationEndpoint: url('authorization_endpoint', false),
    tokenEndpoint: url('token_endpoint', true),
    deviceAuthorizationEndpoint: url('device_authorization_endpoint', false),
    revocationEndpoint: url('revocation_endpoint', false),
    codeChallengeMethods: list(oauth2, 'code_challenge_methods_supported'),
    clientId: text(publicClient, 'client_id'),
    redirectUri: text(publicClient, 'redirect_uri'),
    scopes: list(publicClient, 'scopes'),
    audience: text(publicClient, 'audience'),
    authorizationHeader: header === '' ? FALLBACK_HEADER : header,
  };
  const [first] = problems;
  return first === undefined ? accept(metadata) : refuse(first);
}

/**
 * Whether a client may send something secret there: https, or http on this machine and at an origin
 * that the setting allows; no user information.
 */
export function isSafeUrl(
  text: string,
  dangerouslyAllowPlainHttpTo: readonly string[] = [],
): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\//i.test(text) || url.username !== '' || url.password !== '')
    return false;
  return mayConnect(url, dangerouslyAllowPlainHttpTo);
}

/** Headers with another meaning for proxies and servers, where a token would leak or be dropped. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'content-length',
  'content-type',
  'cookie',
  'date',
  'expect',
  'host',
  'origin',
  'referer',
  'set-cookie',
  'user-agent',
]);

function isReserved(header: string): boolean {
  return RESERVED_HEADERS.has(header) || HOP_BY_HOP_HEADERS.has(header);
}

type Members = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member in either spelling. */
function member(from: Members, name: string): unknown {
  if (Object.hasOwn(from, name)) return from[name];
  const camel = name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return Object.hasOwn(from, camel) ? from[camel] : undefined;
}

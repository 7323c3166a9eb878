/**
 * The public document of an authorization server: which members are believed, and in which form.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';

/**
 * Members of RFC 8414, OpenID Connect Discovery, Device Authorization and Logout that are passed on,
 * under their own names. Absent when the server does not say.
 */
export interface AuthorizationServerDocument {
  /** As configured, byte for byte. */
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri?: string;
  readonly introspection_endpoint?: string;
  readonly [member: string]: string | boolean | readonly string[] | undefined;
}

/** Why a document is not believed; for the log. */
export interface DocumentProblem {
  /** The member at fault, or `document`. */
  readonly member: string;
  readonly problem: 'not_json' | 'foreign_issuer' | 'missing' | 'malformed' | 'not_https';
}

type MemberKind = 'endpoint' | 'link' | 'texts' | 'boolean';

/** Whoever is not in this list is not passed on: keys, secrets of a careless server, and surprises. */
const MEMBERS: Readonly<Record<string, MemberKind>> = {
  authorization_endpoint: 'endpoint',
  token_endpoint: 'endpoint',
  jwks_uri: 'endpoint',
  userinfo_endpoint: 'endpoint',
  revocation_endpoint: 'endpoint',
  introspection_endpoint: 'endpoint',
  device_authorization_endpoint: 'endpoint',
  end_session_endpoint: 'endpoint',
  pushed_authorization_request_endpoint: 'endpoint',
  service_documentation: 'link',
  op_policy_uri: 'link',
  op_tos_uri: 'link',
  scopes_supported: 'texts',
  claims_supported: 'texts',
  response_types_supported: 'texts',
  response_modes_supported: 'texts',
  grant_types_supported: 'texts',
  prompt_values_supported: 'texts',
  acr_values_supported: 'texts',
  subject_types_supported: 'texts',
  ui_locales_supported: 'texts',
  code_challenge_methods_supported: 'texts',
  id_token_signing_alg_values_supported: 'texts',
  dpop_signing_alg_values_supported: 'texts',
  token_endpoint_auth_methods_supported: 'texts',
  token_endpoint_auth_signing_alg_values_supported: 'texts',
  revocation_endpoint_auth_methods_supported: 'texts',
  introspection_endpoint_auth_methods_supported: 'texts',
  authorization_response_iss_parameter_supported: 'boolean',
  require_pushed_authorization_requests: 'boolean',
  claims_parameter_supported: 'boolean',
  request_parameter_supported: 'boolean',
  request_uri_parameter_supported: 'boolean',
  backchannel_logout_supported: 'boolean',
  backchannel_logout_session_supported: 'boolean',
  frontchannel_logout_supported: 'boolean',
  frontchannel_logout_session_supported: 'boolean',
};

/** Without these nobody can sign in; a wrong one spoils the whole document instead of being left out. */
const REQUIRED = ['authorization_endpoint', 'token_endpoint'];
/** May be missing, but a wrong one is never quietly ignored: signatures hang on it. */
const DECISIVE = new Set([...REQUIRED, 'jwks_uri', 'introspection_endpoint']);
const TEXTS_MAX = 200;
const TEXT_MAX_LENGTH = 2_048;
const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Reads a document.
 *
 * The issuer is compared byte for byte. Endpoints are https; http only on the loopback, and only when
 * the issuer is there too, so that no server elsewhere points us at something of ours. A member of
 * another type is left out; one that matters spoils the document.
 *
 * @param text - Untrusted.
 *
 * @see [RFC 8414 section 3.3](https://www.rfc-editor.org/rfc/rfc8414#section-3.3)
 */
export function parseAuthorizationServerDocument(
  text: string,
  issuer: string,
): Result<AuthorizationServerDocument, DocumentProblem> {
  const members = parseObject(text);
  if (members === undefined) return refuse({ member: 'document', problem: 'not_json' });
  if (members['issuer'] !== issuer) return refuse({ member: 'issuer', problem: 'foreign_issuer' });
  const kept: Record<string, string | boolean | readonly string[]> = {};
  for (const [member, kind] of Object.entries(MEMBERS)) {
    const value = members[member];
    if (value === undefined) {
      if (REQUIRED.includes(member)) return refuse({ member, problem: 'missing' });
      continue;
    }
    const problem = findProblem(value, kind, issuer);
    if (problem === undefined) kept[member] = value as string | boolean | readonly string[];
    else if (DECISIVE.has(member)) return refuse({ member, problem });
  }
  return accept({
    issuer,
    ...kept,
    authorization_endpoint: String(kept['authorization_endpoint']),
    token_endpoint: String(kept['token_endpoint']),
  });
}

/** Parses a JSON object; anything else is `undefined`. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function findProblem(
  value: unknown,
  kind: MemberKind,
  issuer: string,
): DocumentProblem['problem'] | undefined {
  switch (kind) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'malformed';
    case 'texts':
      return Array.isArray(value) && value.length <= TEXTS_MAX && value.every(isShortText)
        ? undefined
        : 'malformed';
    case 'link':
    case 'endpoint':
      return findUrlProblem(value, issuer);
  }
}

function findUrlProblem(value: unknown, issuer: string): 'malformed' | 'not_https' | undefined {
  if (!isShortText(value)) return 'malformed';
  const url = URL.parse(value);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '')
    return 'malformed';
  if (url.protocol === 'https:') return undefined;
  return url.protocol === 'http:' && isLoopback(url) && isLoopback(URL.parse(issuer))
    ? undefined
    : 'not_https';
}

function isLoopback(url: URL | null): boolean {
  return url !== null && LOOPBACK_HOSTS.has(url.hostname);
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_MAX_LENGTH;
}

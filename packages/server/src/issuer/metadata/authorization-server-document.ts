/**
 * The public document of an authorization server: which members are believed, and in which form.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import { parseStrictObject } from '../jwt/strict-json.ts';
import { type EndpointProblem, findEndpointProblem } from './endpoint-address.ts';
import { differInLastSlash } from './issuer-difference.ts';

/**
 * Members of RFC 8414, OpenID Connect Discovery, Device Authorization and Logout, under their own names.
 * Absent when the issuer does not say.
 */
export interface IssuerDocument {
  /** As configured, character by character. */
  readonly issuer: string;
  readonly authorization_endpoint?: string;
  readonly token_endpoint?: string;
  readonly jwks_uri?: string;
  readonly introspection_endpoint?: string;
  readonly pushed_authorization_request_endpoint?: string;
  readonly end_session_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly userinfo_endpoint?: string;
  readonly id_token_signing_alg_values_supported?: readonly string[];
  readonly userinfo_signing_alg_values_supported?: readonly string[];
  readonly require_pushed_authorization_requests?: boolean;
  readonly [member: string]: string | boolean | readonly string[] | undefined;
}

/** A document that people can sign in by. */
export interface AuthorizationServerDocument extends IssuerDocument {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
}

/** Why a document is not believed; for the log. */
export interface DocumentProblem {
  /** The member at fault, or `document`. */
  readonly member: string;
  readonly problem:
    | 'not_json'
    | 'foreign_issuer'
    | 'issuer_differs_in_last_slash'
    | 'missing'
    | EndpointProblem;
  /** What stands there instead of the issuer; untrusted. Of that member alone. */
  readonly found?: unknown;
}

type MemberKind = 'endpoint' | 'link' | 'texts' | 'boolean';

/** Members that are not in this list are dropped: keys, secrets of a careless server, and unknown ones. */
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
  userinfo_signing_alg_values_supported: 'texts',
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

/** Members that a sign-in needs. */
const SIGN_IN_MEMBERS = ['authorization_endpoint', 'token_endpoint'] as const;
/** May never be quietly ignored: signatures hang on them, or the protection against a mix-up. */
const DECISIVE: ReadonlySet<string> = new Set([
  ...SIGN_IN_MEMBERS,
  'jwks_uri',
  'introspection_endpoint',
  'authorization_response_iss_parameter_supported',
  'require_pushed_authorization_requests',
]);
const TEXTS_MAX = 200;
const TEXT_MAX_LENGTH = 2_048;

/**
 * Reads the document of an issuer, the same for everything that is asked of it: sign-in, keys of bearer
 * tokens, and the metadata that clients are given.
 *
 * The issuer is compared character by character. An endpoint that may not be used spoils the document, so
 * that the last good one stays in use instead of half a new one; `null` and an empty text in place of an
 * optional one are none. A member of another type is left out; one that matters spoils the document. Does
 * not look for members that are missing, which is for {@link findMissingMember}.
 *
 * @param text - Untrusted.
 * @param issuer - An absolute URL, as configured.
 * @param dangerouslyAllowPlainHttpTo - The setting of that name, see {@link findEndpointProblem}.
 *
 * @see [RFC 8414 section 3.3](https://www.rfc-editor.org/rfc/rfc8414#section-3.3) identical issuer
 * @see [OIDC Discovery 1.0 section 4.3](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfigurationValidation)
 */
export function parseIssuerDocument(
  text: string,
  issuer: string,
  dangerouslyAllowPlainHttpTo: readonly string[] = [],
): Result<IssuerDocument, DocumentProblem> {
  const members = parseStrictObject(text);
  if (members === undefined) return refuse({ member: 'document', problem: 'not_json' });
  if (members['issuer'] !== issuer) return refuse(compareIssuers(members['issuer'], issuer));
  const kept: Record<string, string | boolean | readonly string[]> = {};
  for (const [member, kind] of Object.entries(MEMBERS)) {
    if (!Object.hasOwn(members, member)) continue;
    const value = members[member];
    const problem = findProblem(value, kind, (address) =>
      findEndpointProblem(issuer, address, dangerouslyAllowPlainHttpTo),
    );
    if (problem === undefined) kept[member] = value as string | boolean | readonly string[];
    else if (DECISIVE.has(member)) return refuse({ member, problem });
    else if (kind === 'endpoint' && value !== null && value !== '')
      return refuse({ member, problem });
  }
  return accept({ ...kept, issuer });
}

/**
 * Reads a document that clients sign in by.
 *
 * @param text - Untrusted.
 * @param dangerouslyAllowPlainHttpTo - As for {@link parseIssuerDocument}.
 */
export function parseAuthorizationServerDocument(
  text: string,
  issuer: string,
  dangerouslyAllowPlainHttpTo: readonly string[] = [],
): Result<AuthorizationServerDocument, DocumentProblem> {
  const parsed = parseIssuerDocument(text, issuer, dangerouslyAllowPlainHttpTo);
  if (!parsed.ok) return parsed;
  const member = findMissingMember(parsed.value, SIGN_IN_MEMBERS);
  return member === undefined
    ? accept(parsed.value as AuthorizationServerDocument)
    : refuse({ member, problem: 'missing' });
}

/** The first of these members that a document lacks. */
export function findMissingMember(
  document: IssuerDocument,
  members: readonly string[],
): string | undefined {
  return members.find((member) => document[member] === undefined);
}

function compareIssuers(found: unknown, issuer: string): DocumentProblem {
  const problem = differInLastSlash(issuer, found)
    ? 'issuer_differs_in_last_slash'
    : 'foreign_issuer';
  return { member: 'issuer', problem, found };
}

function findProblem(
  value: unknown,
  kind: MemberKind,
  findAddressProblem: (address: unknown) => EndpointProblem | undefined,
): EndpointProblem | undefined {
  switch (kind) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'malformed';
    case 'texts':
      return Array.isArray(value) && value.length <= TEXTS_MAX && value.every(isShortText)
        ? undefined
        : 'malformed';
    case 'link':
    case 'endpoint':
      return findAddressProblem(value);
  }
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_MAX_LENGTH;
}

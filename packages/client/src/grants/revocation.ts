/**
 * Giving tokens back.
 *
 * @module
 */

import { accept, type Result, refuse } from '@sallyport/protocol';
import type { GrantOptions, TokenRefusal } from '../grant.ts';
import { ExchangeFailure } from '../metadata/bounded-fetch.ts';
import { fetchIssuerDocument } from '../metadata/issuer-document.ts';
import { isSafeUrl } from '../metadata/parse-metadata.ts';
import type { TokenSet } from '../token-set.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { refusalOf } from './oauth-error.ts';
import { postForm } from './token-endpoint.ts';

/** Where and as whom tokens are given back. */
export interface RevocationRequest {
  /** Empty: it is looked for in the issuer's own documents. */
  readonly revocationEndpoint: string;
  readonly issuer: string;
  /** Where the tokens came from. They are given back on its origin, or not at all. */
  readonly tokenEndpoint: string;
  readonly authentication: ClientAuthentication;
  /** Origins that may be asked over plain http; none when absent. */
  readonly dangerouslyAllowPlainHttpTo?: readonly string[];
}

/** What became of it. */
export type Revocation =
  | 'revoked'
  /**
   * The identity provider has no endpoint for it, or none for such tokens, as is usual for JWT access
   * tokens: they live until they end by themselves.
   */
  | 'not_offered';

/**
 * Revokes the refresh token, which ends what was obtained with it; without one, the access token.
 *
 * @returns A server's refusal is a refusal; a token that it does not know counts as revoked, as RFC 7009
 *   section 2.2 has it.
 * @throws {SallyportError} `SP_IDP_UNREACHABLE`, `SP_IDP_PROTOCOL`.
 *
 * @see [RFC 7009](https://www.rfc-editor.org/rfc/rfc7009)
 */
export async function revokeTokens(
  request: RevocationRequest,
  { refreshToken, accessToken }: TokenSet,
  fetch: typeof globalThis.fetch,
  { signal }: GrantOptions = {},
): Promise<Result<Revocation, TokenRefusal>> {
  const endpoint =
    request.revocationEndpoint === ''
      ? await discoverRevocationEndpoint(request, fetch)
      : request.revocationEndpoint;
  if (endpoint === undefined || !isSameOrigin(endpoint, request.tokenEndpoint))
    return accept('not_offered');
  const body = new URLSearchParams({
    token: refreshToken ?? accessToken,
    token_type_hint: refreshToken === undefined ? 'access_token' : 'refresh_token',
  });
  const headers = new Headers();
  request.authentication(body, headers);
  const sent = await postForm(fetch, endpoint, { body, headers }, signal);
  if (!sent.ok) return sent;
  const { status } = sent.value;
  if (status === 200 || status === 204) return accept('revoked');
  const refusal = refusalOf(sent.value, endpoint, { body, headers });
  return refusal.error === 'unsupported_token_type' ? accept('not_offered') : refuse(refusal);
}

/** From the issuer's own document. Whatever is not sound offers nothing. */
async function discoverRevocationEndpoint(
  { issuer, dangerouslyAllowPlainHttpTo }: RevocationRequest,
  fetch: typeof globalThis.fetch,
): Promise<string | undefined> {
  try {
    const document = await fetchIssuerDocument(
      issuer,
      fetch,
      undefined,
      dangerouslyAllowPlainHttpTo,
    );
    const endpoint = document?.['revocation_endpoint'];
    return typeof endpoint === 'string' && isSafeUrl(endpoint, dangerouslyAllowPlainHttpTo)
      ? endpoint
      : undefined;
  } catch (failure) {
    if (!(failure instanceof ExchangeFailure)) throw failure;
    return undefined;
  }
}

function isSameOrigin(one: string, other: string): boolean {
  const origin = URL.parse(one)?.origin;
  return origin !== undefined && origin === URL.parse(other)?.origin;
}

/**
 * The token endpoint, whichever grant is presented there.
 *
 * @module
 */

import { accept, type Result, refuse, SallyportError } from '@sallyport/protocol';
import type { GrantOptions, TokenRefusal } from '../grant.ts';
import {
  type BoundedResponse,
  DEFAULT_LIMITS,
  ExchangeFailure,
  fetchBounded,
} from '../metadata/bounded-fetch.ts';
import { readRetryAfter } from '../metadata/retry-after.ts';
import type { TokenSet } from '../token-set.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { hintFor } from './hints.ts';
import { refusalOf } from './oauth-error.ts';
import type { GrantPorts } from './ports.ts';
import type { SentForm } from './sent-secrets.ts';
import { parseTokenResponse } from './token-response.ts';

/** One request to the token endpoint. */
export interface TokenRequest {
  readonly tokenEndpoint: string;
  readonly authentication: ClientAuthentication;
  /** Besides what the authentication adds. */
  readonly parameters: Readonly<Record<string, string>>;
  /** What is asked for; a server that grants just that need not repeat it (RFC 6749 section 5.1). */
  readonly scopes: readonly string[];
}

/**
 * Presents a grant.
 *
 * @returns The tokens; or the server's OAuth error, its words made printable; or `login_cancelled` when
 *   the signal was aborted.
 * @throws {SallyportError} `SP_IDP_UNREACHABLE` for no answer, 429 and 5xx: the outcome is unknown.
 *   `SP_IDP_PROTOCOL` for an answer that is none of OAuth.
 *
 * @see [RFC 6749 section 5](https://www.rfc-editor.org/rfc/rfc6749#section-5)
 */
export async function requestTokens(
  request: TokenRequest,
  ports: Pick<GrantPorts, 'fetch' | 'now'>,
  { signal }: GrantOptions = {},
): Promise<Result<TokenSet, TokenRefusal>> {
  const { tokenEndpoint, authentication, parameters, scopes } = request;
  const body = new URLSearchParams(parameters);
  const headers = new Headers();
  authentication(body, headers);
  const obtainedAt = ports.now();
  const sent = await postForm(ports.fetch, tokenEndpoint, { body, headers }, signal);
  if (!sent.ok) return sent;
  if (sent.value.status !== 200)
    return refuse(refusalOf(sent.value, tokenEndpoint, { body, headers }));
  const tokens = parseTokenResponse(sent.value.text, { scopes, obtainedAt });
  if (tokens.ok) return tokens;
  throw new SallyportError('SP_IDP_PROTOCOL', {
    component: 'idp',
    detail: `the answer of ${originOf(tokenEndpoint)} ${tokens.error}`,
  });
}

/**
 * Posts a form to an endpoint of the identity provider.
 *
 * @returns Its answer, 4xx included; or `login_cancelled`.
 * @throws {SallyportError} `SP_IDP_UNREACHABLE`.
 */
export async function postForm(
  fetch: typeof globalThis.fetch,
  url: string,
  { body, headers = new Headers() }: SentForm,
  signal: AbortSignal | undefined,
): Promise<Result<BoundedResponse, TokenRefusal>> {
  headers.set('accept', 'application/json');
  headers.set('content-type', 'application/x-www-form-urlencoded');
  try {
    const response = await fetchBounded(
      fetch,
      url,
      {
        method: 'POST',
        headers,
        body: body.toString(),
        ...(signal === undefined ? {} : { signal }),
      },
      DEFAULT_LIMITS,
    );
    if (response.status < 500 && response.status !== 429) return accept(response);
    throw unreachable(url, `answered ${response.status}`, response.headers);
  } catch (cause) {
    if (signal?.aborted === true) return refuse(cancelled());
    if (!(cause instanceof ExchangeFailure)) throw cause;
    if (cause.reason === 'too_large')
      throw new SallyportError('SP_IDP_PROTOCOL', {
        component: 'idp',
        detail: `${originOf(url)} sends too much`,
      });
    throw unreachable(url, 'does not answer', undefined, cause);
  }
}

/** The refusal of an attempt that was cancelled. */
export function cancelled(): TokenRefusal {
  return {
    error: 'login_cancelled',
    description: 'The attempt was ended before there was an answer.',
    hint: hintFor('login_cancelled'),
  };
}

function unreachable(
  url: string,
  what: string,
  headers: Headers | undefined,
  cause?: unknown,
): SallyportError {
  return new SallyportError('SP_IDP_UNREACHABLE', {
    component: 'idp',
    detail: `${originOf(url)} ${what}`,
    retryAfterSeconds: readRetryAfter(headers),
    cause,
  });
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? 'the identity provider';
}

/**
 * Failures of requests to the IdP, as refusals that a sign-in page and the log can name.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import * as oidc from 'openid-client';
import { explainClaim, nameClientCause, type RegisteredClient } from './client-refusal.ts';
import type { ExchangeRefusal } from './relying-party.ts';

/**
 * Classifies what a request of `openid-client` was rejected with, and names the cause where the client or a clock is at
 * fault.
 *
 * @returns `misconfigured` as {@link nameClientCause}; `idp_refused` for an OAuth error, `idp_unreachable` for no answer or a 5xx, `token_invalid` for
 *   every other failure: that one is in the IdP's answer.
 */
export function toExchangeRefusal(
  error: unknown,
  client: RegisteredClient,
  nowSeconds: number,
): ExchangeRefusal {
  const refusal = classify(error);
  switch (refusal.reason) {
    case 'idp_refused':
      return nameClientCause(refusal, client);
    case 'token_invalid':
      return { ...refusal, detail: explain(error, client, nowSeconds) };
    case 'idp_unreachable':
    case 'misconfigured':
      return refusal;
  }
}

/** Whether a request was rejected because the IdP could not be reached. */
export function isIdpUnreachable(error: unknown): boolean {
  return classify(error).reason === 'idp_unreachable';
}

function classify(error: unknown): ExchangeRefusal {
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError) {
    return {
      reason: 'idp_refused',
      code: error.error,
      description: error.error_description ?? '',
      ...(error instanceof oidc.ResponseBodyError ? { status: error.status } : {}),
    };
  }
  const challenged = readClientChallenge(error);
  if (challenged !== undefined) return challenged;
  if (isUnreachable(error)) return { reason: 'idp_unreachable', cause: error };
  return { reason: 'token_invalid', check: checkOf(error) };
}

/**
 * A client that used the Authorization header is refused with a challenge for the same scheme (RFC 6749
 * section 5.2), which the library reports instead of the body. A challenge for `Bearer` is about a token.
 */
function readClientChallenge(error: unknown): ExchangeRefusal | undefined {
  if (!(error instanceof oidc.WWWAuthenticateChallengeError) || error.status !== 401)
    return undefined;
  const challenge = error.cause.find(({ scheme }) => scheme === 'basic');
  if (challenge === undefined) return undefined;
  const { error: code = 'invalid_client', error_description: description = '' } =
    challenge.parameters;
  return { reason: 'idp_refused', code, description, status: error.status };
}

/** No answer, or a server that says of itself that it is broken. */
function isUnreachable(error: unknown): boolean {
  for (
    let cause = error;
    cause !== undefined;
    cause = cause instanceof Error ? cause.cause : undefined
  ) {
    if (cause instanceof SallyportError) return true;
    if (cause instanceof Response) return cause.status >= 500;
  }
  return false;
}

function checkOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return error.code;
  return error instanceof Error ? error.name : 'response';
}

/** The library says with an error which claim it is about, and what the id_token holds. */
function explain(error: unknown, client: RegisteredClient, nowSeconds: number): string | undefined {
  let cause: unknown = error;
  while (cause instanceof Error) cause = cause.cause;
  if (!isObject(cause) || typeof cause['claim'] !== 'string' || !isObject(cause['claims']))
    return undefined;
  return explainClaim(cause['claim'], cause['claims'], client, nowSeconds);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

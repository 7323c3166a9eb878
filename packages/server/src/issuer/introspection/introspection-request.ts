/**
 * The request to an introspection endpoint (RFC 7662).
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { IssuerFetch } from '../issuer-request.ts';
import { type JsonObject, parseStrictObject } from '../jwt/strict-json.ts';

/** An introspection endpoint, and the client that it knows this service as. */
export interface IntrospectionEndpoint {
  readonly endpoint: string;
  readonly clientId: string;
  /** Reads the secret, current at each use. */
  readonly clientSecret: () => string;
}

/**
 * Asks what an access token stands for.
 *
 * Checks that the answer is one: status 200, a strict JSON object with a boolean `active`. What the answer says
 * is for the caller to judge.
 *
 * @param token - Sent as it is; of bounded length and of the characters of a bearer token.
 * @throws {SallyportError} `SP_IDP_UNREACHABLE` when the endpoint does not answer, `SP_IDP_PROTOCOL` for an
 *   answer of another form.
 *
 * @see [RFC 7662 section 2](https://www.rfc-editor.org/rfc/rfc7662#section-2)
 */
export async function requestIntrospection(
  { endpoint, clientId, clientSecret }: IntrospectionEndpoint,
  token: string,
  fetch: IssuerFetch,
): Promise<JsonObject> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      authorization: basicCredentials(clientId, clientSecret()),
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
  });
  if (response.status !== 200)
    throw misbehaved(`introspection was answered with status ${response.status}`);
  const answer = parseStrictObject(await response.text());
  if (typeof answer?.['active'] !== 'boolean')
    throw misbehaved('introspection was answered with something else than RFC 7662 says');
  return answer;
}

/** @see [RFC 6749 section 2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1) both are form-encoded first */
function basicCredentials(clientId: string, clientSecret: string): string {
  const pair = `${formEncode(clientId)}:${formEncode(clientSecret)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

function misbehaved(detail: string): SallyportError {
  return new SallyportError('SP_IDP_PROTOCOL', { component: 'idp:bearer', detail });
}

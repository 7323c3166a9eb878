/**
 * OAuth error answers as refusals.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { TokenRefusal } from '../grant.ts';
import type { BoundedResponse } from '../metadata/bounded-fetch.ts';
import { toPrintable } from '../metadata/printable.ts';
import { hintFor } from './hints.ts';
import { parseJsonObject } from './json-object.ts';
import { type SentForm, withoutSecrets } from './sent-secrets.ts';

/** An error code is printable ASCII without quotes and backslash (RFC 6749 section 5.2); ours is shorter. */
const ERROR_CODE = /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,100}$/;

/**
 * Reads an error answer.
 *
 * @param sent - The request it answers; its secrets are taken out of the server's words.
 *
 * @throws {SallyportError} `SP_IDP_PROTOCOL` when it is none: a page, a redirect, another server.
 */
export function refusalOf(
  { status, text }: BoundedResponse,
  url: string,
  sent: SentForm,
): TokenRefusal {
  const { error, error_description: description } = parseJsonObject(text) ?? {};
  if (status >= 400 && typeof error === 'string' && ERROR_CODE.test(error)) {
    const refusal = describeOAuthError(
      withoutSecrets(error, sent),
      typeof description === 'string' ? withoutSecrets(description, sent) : '',
    );
    // Keycloak's answer to a wrong secret; with 400 it is about the grant type (RFC 6749 section 5.2).
    const isSecretWrong = status === 401 && error === 'unauthorized_client';
    return isSecretWrong ? { ...refusal, hint: hintFor('invalid_client') } : refusal;
  }
  throw new SallyportError('SP_IDP_PROTOCOL', {
    component: 'idp',
    detail: `${URL.parse(url)?.origin ?? 'the identity provider'} answered ${status} without an OAuth error`,
  });
}

/** Puts an OAuth error and its untrusted words into a refusal that is safe to show. */
export function describeOAuthError(error: string, description: string): TokenRefusal {
  const code = ERROR_CODE.test(error) ? error : 'unknown_error';
  const words = toPrintable(description);
  return {
    error: code,
    description:
      words === ''
        ? `The identity provider answered ${code}.`
        : `The identity provider answered ${code}: ${words}`,
    hint: hintFor(code),
  };
}

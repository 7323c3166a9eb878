/**
 * The page for a sign-in that the IdP did not begin or did not finish.
 *
 * @module
 */

import { describeFailure, type Log } from '../observe/log.ts';
import type { ExchangeRefusal } from './relying-party.ts';
import { showFailure } from './sign-in-request.ts';

/** What the page is shown with. */
export interface IdpRefusalOptions {
  readonly requestId: string;
  readonly retryUrl: string;
  readonly setCookies: readonly string[];
  readonly log: Log;
}

/** RFC 6749 section 5.2: the characters of an error code. */
const ERROR_CODE = /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,64}$/;
const UNREACHABLE_RETRY_SECONDS = 5;

/** Shows the page of a refusal, and logs what the page does not tell. */
export function showIdpRefusal(
  refusal: ExchangeRefusal,
  { requestId, retryUrl, setCookies, log }: IdpRefusalOptions,
): Response {
  const { reason } = refusal;
  const details = { requestId, retryUrl };
  switch (reason) {
    case 'idp_refused': {
      const code = ERROR_CODE.test(refusal.code) ? refusal.code : 'invalid error code';
      log('warn', 'sign_in_failed', { reason, error: code, requestId });
      const idpError = { code, description: refusal.description };
      return showFailure(reason, { ...details, idpError }, { setCookies });
    }
    case 'token_invalid':
      log('error', 'sign_in_failed', { reason, check: refusal.check, requestId });
      return showFailure(reason, details, { setCookies });
    case 'idp_unreachable': {
      const { cause } = refusal;
      const failure = cause === undefined ? 'no metadata of the IdP' : describeFailure(cause);
      log('error', 'sign_in_failed', { reason, failure, requestId });
      return showFailure(reason, details, {
        setCookies,
        retryAfterSeconds: UNREACHABLE_RETRY_SECONDS,
      });
    }
  }
}

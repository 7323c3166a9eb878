/**
 * The page for a sign-in that the IdP did not begin or did not finish.
 *
 * @module
 */

import { type Audit, NO_PRINCIPAL } from '../audit/audit.ts';
import { auditOrigin } from '../audit/audit-origin.ts';
import type { ExchangeRefusal } from '../issuer/relying-party/relying-party.ts';
import { describeFailure } from '../log/log.ts';
import { type SignInRequest, showFailure } from './sign-in-request.ts';

/** What the page is shown with. */
export interface IdpRefusalOptions {
  readonly request: SignInRequest;
  readonly retryUrl: string;
  readonly setCookies: readonly string[];
  readonly audit: Audit;
  /** Addresses to register at the IdP; the page shows them where the client is not accepted. */
  readonly register: readonly string[];
}

/** RFC 6749 section 5.2: the characters of an error code. */
const ERROR_CODE = /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,64}$/;
const UNREACHABLE_RETRY_SECONDS = 5;

/** Shows the page of a refusal, and audits what the page does not show. */
export function showIdpRefusal(
  refusal: ExchangeRefusal,
  { request, retryUrl, setCookies, audit, register }: IdpRefusalOptions,
): Response {
  const { reason } = refusal;
  const details = { requestId: request.requestId, retryUrl };
  const failed = {
    event: 'sign_in_failed',
    ...NO_PRINCIPAL,
    session: undefined,
    ...auditOrigin(request),
    reason,
  } as const;
  switch (reason) {
    case 'idp_refused': {
      const code = showCode(refusal.code);
      audit({ ...failed, error: code, detail: refusal.detail });
      const idpError = { code, description: refusal.description };
      return showFailure(reason, { ...details, idpError }, { setCookies });
    }
    case 'misconfigured': {
      const { error, detail } = refusal;
      const idpError = error && { ...error, code: showCode(error.code) };
      audit({ ...failed, error: idpError?.code, detail });
      return showFailure(reason, { ...details, idpError, register }, { setCookies });
    }
    case 'token_invalid':
      audit({ ...failed, check: refusal.check, detail: refusal.detail });
      return showFailure(reason, details, { setCookies });
    case 'idp_unreachable': {
      const { cause } = refusal;
      const failure = cause === undefined ? 'no metadata of the IdP' : describeFailure(cause);
      audit({ ...failed, failure });
      return showFailure(reason, details, {
        setCookies,
        retryAfterSeconds: UNREACHABLE_RETRY_SECONDS,
      });
    }
  }
}

function showCode(code: string): string {
  return ERROR_CODE.test(code) ? code : 'invalid error code';
}

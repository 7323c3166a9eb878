/**
 * A request that fails, as an answer. It never admits.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import { isBackground } from '../answer/caller.ts';
import { toProblemJson } from '../answer/problem.ts';
import { describeFailure, type Log } from '../log/log.ts';
import type { FailureReason } from '../page/failure-page.ts';
import { type SignInRequest, showFailure } from './sign-in-request.ts';

const RETRY_AFTER_SECONDS = 5;

/** The answer to a request whose endpoint threw; the log gets the cause. */
export function answerThrown(request: SignInRequest, cause: unknown, log: Log): Response {
  log('error', 'request_failed', {
    failure: describeFailure(cause),
    request_id: request.requestId,
  });
  if (cause instanceof SallyportError)
    return answerFailure(
      request,
      'store_unavailable',
      cause.retryAfterSeconds ?? RETRY_AFTER_SECONDS,
    );
  return answerFailure(request, 'unexpected', undefined);
}

/** A failure as a page, or as a problem document where the request is no person's navigation. */
export function answerFailure(
  request: SignInRequest,
  reason: FailureReason,
  retryAfterSeconds: number | undefined,
): Response {
  const { requestId } = request;
  if (!isBackground(request)) {
    return showFailure(
      reason,
      { requestId },
      retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
    );
  }
  const { status, headers, body } = toProblemJson({
    status: reason === 'rate_limited' ? 429 : 503,
    reason,
    title: 'This cannot be answered at the moment',
    requestId,
    loginUrl: '',
    retryAfterSeconds: retryAfterSeconds ?? RETRY_AFTER_SECONDS,
    bearerShown: false,
  });
  return new Response(body, { status, headers: headers.map(([name, value]) => [name, value]) });
}

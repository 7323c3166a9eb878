/**
 * Asks the injected verdict about one request.
 *
 * @module
 */

import { SallyportError } from '@sallyport/protocol';
import type { Admission, Answer, CheckRequest } from '@sallyport/server/verdict';
import type { Exchange } from './exchange.ts';
import type { Log } from './log.ts';
import { sendProblem } from './problem.ts';

/** What the verdict is asked. */
export interface AnswerRequest extends CheckRequest {
  /** Path and query, as the backend would get them. */
  readonly target: string;
  readonly requestId: string;
}

/** The verdict in process, already shaped for the caller. */
export type AskAnswer = (request: AnswerRequest) => Answer | Promise<Answer>;

/** What one question is made from. */
export interface AdmissionRequest {
  readonly exchange: Exchange;
  readonly target: string;
  readonly requestId: string;
  /** Which of the two configured headers a bearer travels in. */
  readonly transport: 'http' | 'grpc';
}

/**
 * Asks whether a request may enter, and answers it when it may not.
 *
 * Fails closed: without a verdict function, when it throws or rejects, or when what it returns is no
 * answer, the caller gets 503 (RPC: UNAVAILABLE).
 *
 * @returns The admission; `undefined` when the request has been answered and MUST NOT be forwarded.
 */
export async function admit(
  { exchange, target, requestId, transport }: AdmissionRequest,
  ask: AskAnswer | undefined,
  log: Log,
): Promise<Admission | undefined> {
  const context = { requestId };
  if (ask === undefined) {
    sendProblem(exchange, 'auth_disabled', context);
    return undefined;
  }
  try {
    const { method, headers, rawHeaders } = exchange;
    const answer = await ask({ method, headers, rawHeaders, transport, target, requestId });
    if (answer.outcome === 'admitted') {
      if (!Array.isArray(answer.identityHeaders))
        throw new TypeError('an admission without an identity');
      return answer;
    }
    if (!exchange.isClosed) exchange.send(answer.status, answer.headers, answer.body);
  } catch (error) {
    log('gateway.answer_failed', {
      request_id: requestId,
      // Not the message: only our own errors are known to keep secrets out of it.
      error: error instanceof SallyportError ? error.message : nameOf(error),
    });
    sendProblem(exchange, 'undecided', context);
  }
  return undefined;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/**
 * The session of a person who opens a page of ours, or the answer that sends them to get one.
 *
 * @module
 */

import {
  accept,
  type HeaderPair,
  type Principal,
  type Result,
  refuse,
  type UserRecord,
} from '@sallyport/protocol';
import { classifyCaller } from '../answer/caller.ts';
import { toProblemJson } from '../answer/problem.ts';
import { shapeDenial } from '../answer/shape-answer.ts';
import type { SessionView } from '../verdict/verdict.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import type { SignInRequest } from './sign-in-request.ts';

/** Who asks, by a session. */
export interface OwnSession {
  readonly principal: Principal;
  readonly user: UserRecord;
  readonly session: SessionView;
  /** Sends the session's cookie again, with a new Max-Age, when that is due. */
  readonly setCookies: readonly string[];
}

/**
 * Finds the session a request is made with. A bearer token is none: pages of ours are for people.
 *
 * @param target - Path and query to come back to after signing in.
 *
 * @returns `error`: the answer to send. A navigation is sent to `/login`, with 303 after a POST; a
 *   program gets a problem; undecided: 503.
 */
export async function findOwnSession(
  { check, redirects }: Pick<SignInDependencies, 'check' | 'redirects'>,
  request: SignInRequest,
  target: string,
): Promise<Result<OwnSession, Response>> {
  const { method, headers, rawHeaders, requestId } = request;
  const { publicOrigin } = redirects;
  const verdict = await check({ method, headers, rawHeaders, transport: 'http' });
  if (verdict.outcome !== 'admitted') {
    // A page's form is posted by a navigation as well.
    const kind = classifyCaller({ method: 'GET', headers });
    const caller = { kind, accept: headers.accept, target, requestId };
    const { status, ...denial } = shapeDenial(verdict, caller, publicOrigin);
    return refuse(
      toResponse({ ...denial, status: status === 302 && method === 'POST' ? 303 : status }),
    );
  }
  const { identity, session, setCookie } = verdict;
  if (session === undefined) {
    const problem = toProblemJson({
      status: 403,
      reason: 'session_required',
      title: 'This page is for the session of a browser',
      requestId,
      loginUrl: '',
      retryAfterSeconds: undefined,
      bearerShown: false,
    });
    return refuse(toResponse(problem));
  }
  return accept({
    principal: identity.principal,
    user: identity.user,
    session,
    setCookies: setCookie === undefined ? [] : [setCookie],
  });
}

function toResponse(answer: {
  readonly status: number;
  readonly headers: readonly HeaderPair[];
  readonly body: string;
}): Response {
  const { status, headers, body } = answer;
  return new Response(body === '' ? null : body, {
    status,
    headers: headers.map(([name, value]) => [name, value]),
  });
}

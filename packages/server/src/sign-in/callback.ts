/**
 * `GET /callback`: the IdP sends the browser back; the code becomes a session.
 *
 * @module
 */

import { createHash } from 'node:crypto';
import { listRegisteredAddresses, PATHS, selectRedirectTarget } from '@sallyport/protocol';
import { NO_PRINCIPAL } from '../audit/audit.ts';
import { auditOrigin } from '../audit/audit-origin.ts';
import type { ExchangeRefusal } from '../issuer/relying-party/relying-party.ts';
import { buildOneMomentPage } from '../page/one-moment-page.ts';
import { ATTEMPT_LIFE_MS, type Attempt, type AttemptState } from './attempt.ts';
import { showIdpRefusal } from './idp-refusal.ts';
import { retryUrl, startAttempt } from './login.ts';
import { createSessionStart } from './session-start.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import {
  redirectTo,
  refuseMethod,
  type SignInRequest,
  showFailure,
  showPage,
  singleParameter,
} from './sign-in-request.ts';

/** Parameters that decide something; RFC 6749 section 3.1 forbids each to be repeated. */
const SINGLE_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description'];

/**
 * Creates the endpoint. Its steps, in order: single parameters, code or error, `state`, the attempt in this browser's
 * cookies, at most one use of it, the exchange with every check on it, the access rules, the session.
 *
 * Only GET: a POST or HEAD is refused before anything is used up.
 *
 * @see Requirement, "Browser login flow", steps 5 to 7; endpoint row `/callback`.
 * @see [RFC 9700 section 4.7](https://www.rfc-editor.org/rfc/rfc9700#section-4.7) CSRF
 * @see [RFC 9207 section 2.4](https://www.rfc-editor.org/rfc/rfc9207#section-2.4) issuer of the response
 */
export function createCallback(
  dependencies: SignInDependencies,
): (request: SignInRequest) => Promise<Response> {
  const { redirects, attempts, relyingParty, store, check, audit } = dependencies;
  const beginSession = createSessionStart(dependencies);

  return async function callback(request) {
    if (request.method !== 'GET') return refuseMethod('GET');
    const { query } = request;
    if (SINGLE_PARAMETERS.some((name) => singleParameter(query, name) === 'repeated')) {
      return fail(request, 'bad_request', 'repeated parameter');
    }
    // An answer is a code or an error (RFC 6749 section 4.1.2); one that is empty is none (section 3.1).
    if (!query.get('code') && !query.get('error'))
      return fail(request, 'bad_request', 'no code and no error');
    const state = attempts.openState(query.get('state') ?? '');
    if (state === undefined) return attemptGone(request, undefined);
    const attempt = attempts.find(request.headers.cookie, state);
    if (attempt === undefined) return attemptGone(request, state);
    const target = selectRedirectTarget(state.target, redirects);

    const isFirstUse = await store.claimOnce(
      claimKey(state),
      state.startedAt + 2 * ATTEMPT_LIFE_MS,
    );
    if (!isFirstUse) return attemptGone(request, state);

    const exchanged = await relyingParty.exchange(query, {
      state: query.get('state') ?? '',
      nonce: attempt.nonce,
      codeVerifier: attempt.codeVerifier,
    });
    if (!exchanged.ok) return exchangeFailed(request, exchanged.error, attempt, target);
    return beginSession(request, exchanged.value, attempt, target);
  };

  /**
   * The attempt is used, too old, or was never this browser's. A person who has a session by now has
   * what they wanted; else the sign-in is started once more; else, while another tab is at it, the page
   * waits for that; else a page says why.
   */
  async function attemptGone(
    request: SignInRequest,
    state: AttemptState | undefined,
  ): Promise<Response> {
    const target = selectRedirectTarget(state?.target, redirects);
    const verdict = await check({ ...request, method: 'GET', transport: 'http' });
    if (verdict.outcome === 'admitted') return redirectTo(target, []);
    if (state !== undefined && attempts.mayRestart(state)) {
      return startAttempt(dependencies, request, {
        target,
        restarts: state.restarts + 1,
        extra: {},
        because: 'attempt_gone',
      });
    }
    if (state !== undefined && attempts.mayAwaitOther(request.headers.cookie, state)) {
      return showPage(buildOneMomentPage(retryUrl(target)), 200);
    }
    const reason =
      state !== undefined && !attempts.hasAny(request.headers.cookie)
        ? 'cookies_blocked'
        : 'attempt_gone';
    return fail(request, reason, undefined, target);
  }

  function exchangeFailed(
    request: SignInRequest,
    refusal: ExchangeRefusal,
    attempt: Attempt,
    target: string,
  ): Response {
    return showIdpRefusal(refusal, {
      request,
      retryUrl: retryUrl(target),
      setCookies: [attempts.clear(attempt.slot)],
      audit,
      register: Object.values(listRegisteredAddresses(redirects.publicOrigin)),
    });
  }

  function fail(
    request: SignInRequest,
    reason: 'attempt_gone' | 'bad_request' | 'cookies_blocked',
    detail: string | undefined,
    target = redirects.publicOrigin + PATHS.root,
  ): Response {
    audit({
      event: 'sign_in_failed',
      ...NO_PRINCIPAL,
      session: undefined,
      ...auditOrigin(request),
      reason,
      detail,
    });
    return showFailure(reason, { requestId: request.requestId, retryUrl: retryUrl(target) });
  }
}

function claimKey(state: AttemptState): Buffer {
  return createHash('sha256')
    .update(JSON.stringify(['attempt', state.attempt]))
    .digest();
}

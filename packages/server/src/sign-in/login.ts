/**
 * `GET /login`: sends the browser to the IdP.
 *
 * @module
 */

import { listRegisteredAddresses, PATHS, selectRedirectTarget } from '@sallyport/protocol';
import { isBackground } from '../answer/caller.ts';
import { NO_PRINCIPAL } from '../audit/audit.ts';
import { auditOrigin } from '../audit/audit-origin.ts';
import { showIdpRefusal } from './idp-refusal.ts';
import { readPopupTarget } from './popup.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import {
  redirectTo,
  refuseBackground,
  refuseMethod,
  type SignInRequest,
  showFailure,
  singleParameter,
} from './sign-in-request.ts';

const IDP_SELECTOR = /^[A-Za-z0-9._:-]{1,128}$/;
const PROMPTS: ReadonlySet<string> = new Set(['login', 'select_account', 'consent']);

/**
 * Creates the endpoint.
 *
 * With a session it goes straight to the target, unless `prompt` or the IdP selector asks for the
 * IdP. A request that no person made (a fetch, an asset, a WebSocket) gets 401 and starts nothing:
 * it could not show the IdP's page, and would only use up attempt slots. With `mode=popup` the target is
 * the page that notifies the other windows, which may have it close this one.
 *
 * @see Requirement, "Browser login flow", step 4; endpoint row `/login`.
 */
export function createLogin(
  dependencies: SignInDependencies,
): (request: SignInRequest) => Promise<Response> {
  const { redirects, check, idpQueryParameter } = dependencies;

  return async function login(request) {
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod('GET, HEAD');
    const { requestId } = request;
    const extra = readExtra(request.query);
    const asked = singleParameter(request.query, 'redirect_url');
    const popup = readPopupTarget(request.query, redirects.publicOrigin);
    if (extra === undefined || asked === 'repeated' || popup === 'not_understood')
      return showFailure('bad_request', { requestId });
    const target = popup.target ?? selectRedirectTarget(asked.value, redirects);

    let because: string = 'asked_for';
    if (Object.keys(extra).length === 0) {
      const verdict = await check({ ...request, method: 'GET', transport: 'http' });
      if (verdict.outcome === 'admitted' && verdict.session !== undefined)
        return redirectTo(target, []);
      // A person who comes here wants to sign in: an IdP that does not renew may still know the person.
      if (verdict.outcome === 'undecided' && verdict.reason !== 'renewal_unavailable') {
        const { retryAfterSeconds } = verdict;
        return showFailure(
          'store_unavailable',
          { requestId, retryUrl: retryUrl(target) },
          { retryAfterSeconds },
        );
      }
      if (verdict.outcome !== 'admitted') because = verdict.reason;
    }
    if (isBackground(request)) return refuseBackground(request, redirects.publicOrigin);
    return startAttempt(dependencies, request, { target, restarts: 0, extra, because });
  };

  /** Parameters to pass on; `undefined` when one is repeated or not understood. */
  function readExtra(query: URLSearchParams): Record<string, string> | undefined {
    const extra: Record<string, string> = {};
    const prompt = singleParameter(query, 'prompt');
    const idp =
      idpQueryParameter === '' ? { value: undefined } : singleParameter(query, idpQueryParameter);
    if (prompt === 'repeated' || idp === 'repeated') return undefined;
    if (prompt.value !== undefined) {
      if (!PROMPTS.has(prompt.value)) return undefined;
      extra['prompt'] = prompt.value;
    }
    if (idp.value !== undefined) {
      if (!IDP_SELECTOR.test(idp.value)) return undefined;
      extra[idpQueryParameter] = idp.value;
    }
    return extra;
  }
}

/**
 * Starts a sign-in attempt and sends the browser to the IdP.
 *
 * @param attempt - `target` already allowed; `restarts` counts lost attempts of this sign-in; `because` is for
 *   the audit log: why the session there was, if any, did not do.
 */
export async function startAttempt(
  { attempts, relyingParty, redirects, audit }: SignInDependencies,
  request: SignInRequest,
  attempt: {
    readonly target: string;
    readonly restarts: number;
    readonly extra: Readonly<Record<string, string>>;
    readonly because: string;
  },
): Promise<Response> {
  const { target, restarts, extra, because } = attempt;
  const started = attempts.start(request.headers.cookie, target, restarts);
  const { state, nonce, codeChallenge, setCookie } = started;
  const location = await relyingParty.authorizationUrl({ state, nonce, codeChallenge, extra });
  if (!location.ok) {
    const register = Object.values(listRegisteredAddresses(redirects.publicOrigin));
    const shown = { request, retryUrl: retryUrl(target), setCookies: [], audit, register };
    return showIdpRefusal(location.error, shown);
  }
  audit({
    event: 'sign_in_started',
    ...NO_PRINCIPAL,
    session: undefined,
    ...auditOrigin(request),
    reason: because,
    restarts,
  });
  return redirectTo(location.value.href, [setCookie]);
}

/** Our `/login` with a target, for the "try again" of a page. */
export function retryUrl(target: string): string {
  return `${PATHS.login}?redirect_url=${encodeURIComponent(target)}`;
}

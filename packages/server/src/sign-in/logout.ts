/**
 * `/logout`: ends the session here and at the IdP, and says so.
 *
 * @module
 */

import { PATHS, parseRedirectTarget } from '@sallyport/protocol';
import { isPrefetch } from '../answer/caller.ts';
import { buildSignOutQuestionPage } from '../page/sign-out-pages.ts';
import { openText } from '../session/seal.ts';
import { isSessionHandle, readSessionValues } from '../session/session-cookie.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import {
  refuseBackground,
  refuseMethod,
  type SignInRequest,
  showFailure,
  showPage,
  singleParameter,
} from './sign-in-request.ts';
import { createSignOut, SIGN_OUT_STATE } from './sign-out.ts';

const STATE_MAX_LENGTH = 8_192;

/**
 * Creates the endpoint.
 *
 * It acts on a POST whose `Origin` is ours, or a GET that the browser says is a navigation of
 * the whole window from a page of ours;
 * anything else is asked first, and clears nothing. Then: the session is ended for every process,
 * the refresh token revoked (RFC 7009), and the browser sent to the IdP's end-session endpoint, which
 * sends it back here. Without a session it shows the signed-out page, or goes to the target that came
 * back in `state`; it never leads into a new sign-in by itself.
 *
 * @see [OIDC RP-Initiated Logout 1.0](https://openid.net/specs/openid-connect-rpinitiated-1_0.html)
 */
export function createLogout(
  dependencies: SignInDependencies,
): (request: SignInRequest) => Promise<Response> {
  const { redirects, relyingParty, cookies, ring } = dependencies;
  const signOut = createSignOut(dependencies);

  return async function logout(request) {
    if (!['GET', 'HEAD', 'POST'].includes(request.method)) return refuseMethod('GET, HEAD, POST');
    // A browser throws such an answer away, and asks again when the person goes there.
    if (isPrefetch(request.headers))
      return refuseBackground(request, redirects.publicOrigin, 'sign out');
    const asked = singleParameter(request.query, 'redirect_url');
    const state = singleParameter(request.query, 'state');
    if (asked === 'repeated' || state === 'repeated')
      return showFailure('bad_request', { requestId: request.requestId });
    const target = allowed(asked.value) ?? targetOf(state.value);
    const values = readSessionValues(request.headers.cookie, cookies.sessionName).filter(
      isSessionHandle,
    );
    const isOwn = isOwnRequest(request);
    // A browser withholds the cookie from another site's POST: that there is none says nothing then.
    if (request.method === 'POST' && !isOwn) return askFirst(target);
    if (values.length === 0) return signOut.arrive(target, true, []);
    if (!isOwn) return askFirst(target);
    return signOut.leave(await signOut.end(request, values), target);
  };

  function askFirst(target: string | undefined): Response {
    const action =
      target === undefined
        ? PATHS.logout
        : `${PATHS.logout}?redirect_url=${encodeURIComponent(target)}`;
    return showPage(buildSignOutQuestionPage(action, relyingParty.endSessionOrigin()), 200);
  }

  function isOwnRequest({ method, headers }: SignInRequest): boolean {
    if (method === 'POST') return headers.origin === redirects.publicOrigin;
    // A navigation of the whole window, and no image or frame on a page of ours that another person wrote.
    return (
      method === 'GET' &&
      headers['sec-fetch-site'] === 'same-origin' &&
      headers['sec-fetch-mode'] === 'navigate' &&
      headers['sec-fetch-dest'] === 'document'
    );
  }

  function allowed(target: string | undefined): string | undefined {
    const parsed = target === undefined ? undefined : parseRedirectTarget(target, redirects);
    return parsed?.ok === true ? parsed.value : undefined;
  }

  function targetOf(state: string | undefined): string | undefined {
    if (state === undefined || state.length > STATE_MAX_LENGTH) return undefined;
    return allowed(openText(ring, SIGN_OUT_STATE, state));
  }
}

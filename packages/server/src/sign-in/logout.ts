/**
 * `/logout`: ends the session here and at the IdP, and says so.
 *
 * @module
 */

import { PATHS, parseRedirectTarget, readCookies } from '@sallyport/protocol';
import { buildSignedOutPage, buildSignOutQuestionPage } from '../page/sign-out-pages.ts';
import { openText, sealText } from '../session/seal.ts';
import { clearSessionCookie, isSessionHandle } from '../session/session-cookie.ts';
import { retryUrl } from './login.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import {
  redirectTo,
  refuseMethod,
  type SignInRequest,
  showFailure,
  showPage,
  singleParameter,
} from './sign-in-request.ts';

const STATE_CONTEXT = { purpose: 'sign-out-state', binding: '' } as const;
const STATE_MAX_LENGTH = 8_192;
/** More sessions at once than any honest browser has. */
const SESSIONS_MAX = 16;

/**
 * Creates the endpoint.
 *
 * It acts on a POST whose `Origin` is ours, or a GET that the browser says is a navigation from a page of ours;
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
  const { redirects, sessions, relyingParty, cookies, ring, log } = dependencies;

  return async function logout(request) {
    if (!['GET', 'HEAD', 'POST'].includes(request.method)) return refuseMethod('GET, HEAD, POST');
    const asked = singleParameter(request.query, 'redirect_url');
    const state = singleParameter(request.query, 'state');
    if (asked === 'repeated' || state === 'repeated')
      return showFailure('bad_request', { requestId: request.requestId });
    const target = allowed(asked.value) ?? targetOf(state.value);
    const values = readCookies(request.headers.cookie, cookies.sessionName).filter(isSessionHandle);
    const isOwn = isOwnRequest(request);
    // A browser withholds the cookie from another site's POST: that there is none says nothing then.
    if (request.method === 'POST' && !isOwn) return askFirst(target);
    if (values.length === 0) return afterSignOut(target, true, []);
    if (!isOwn) return askFirst(target);
    return signOut(request, values, target);
  };

  /** A planted cookie of the same name may stand beside the real one: every session shown is ended. */
  async function signOut(
    request: SignInRequest,
    values: readonly string[],
    target: string | undefined,
  ): Promise<Response> {
    const setCookies = [clearSessionCookie(cookies)];
    let location: URL | undefined;
    let isIdpTold = true;
    for (const value of values.slice(0, SESSIONS_MAX)) {
      const ended = await sessions.end(value);
      if (ended === undefined) continue;
      const { session, tokens } = ended;
      log('audit', 'session_ended', {
        reason: 'signed_out',
        issuer: session.principal.issuer,
        subject: session.principal.subject,
        session: session.id,
        requestId: request.requestId,
      });
      const isReachable =
        tokens?.refreshToken === undefined || (await relyingParty.revoke(tokens.refreshToken));
      location = isReachable ? await endSessionUrl(tokens?.idToken, target) : undefined;
      isIdpTold = location !== undefined;
    }
    return location === undefined
      ? afterSignOut(target, isIdpTold, setCookies)
      : redirectTo(location.href, setCookies, 303);
  }

  function endSessionUrl(
    idToken: string | undefined,
    target: string | undefined,
  ): Promise<URL | undefined> {
    const state = target === undefined ? undefined : sealText(ring, STATE_CONTEXT, target);
    return relyingParty.endSessionUrl({ idToken, state });
  }

  /** A target that needs a session would start a sign-in: it becomes the page's link instead. */
  function afterSignOut(
    target: string | undefined,
    atIdp: boolean,
    setCookies: readonly string[],
  ): Response {
    const root = redirects.publicOrigin + PATHS.root;
    if (target !== undefined && atIdp && !needsSession(target))
      return redirectTo(target, setCookies);
    return showPage(buildSignedOutPage(retryUrl(target ?? root), atIdp), 200, setCookies);
  }

  function askFirst(target: string | undefined): Response {
    const action =
      target === undefined
        ? PATHS.logout
        : `${PATHS.logout}?redirect_url=${encodeURIComponent(target)}`;
    return showPage(buildSignOutQuestionPage(action, relyingParty.endSessionOrigin()), 200);
  }

  function isOwnRequest({ method, headers }: SignInRequest): boolean {
    if (method === 'POST') return headers.origin === redirects.publicOrigin;
    // A navigation, and not an image on a page of ours that somebody else wrote.
    return (
      method === 'GET' &&
      headers['sec-fetch-site'] === 'same-origin' &&
      headers['sec-fetch-mode'] === 'navigate'
    );
  }

  function needsSession(target: string): boolean {
    const { origin, pathname } = new URL(target);
    return origin === redirects.publicOrigin && dependencies.isProtectedPath(pathname);
  }

  function allowed(target: string | undefined): string | undefined {
    const parsed = target === undefined ? undefined : parseRedirectTarget(target, redirects);
    return parsed?.ok === true ? parsed.value : undefined;
  }

  function targetOf(state: string | undefined): string | undefined {
    if (state === undefined || state.length > STATE_MAX_LENGTH) return undefined;
    return allowed(openText(ring, STATE_CONTEXT, state));
  }
}

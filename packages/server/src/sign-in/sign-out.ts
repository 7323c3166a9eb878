/**
 * Signing a browser out: its sessions here, then the IdP, then where it goes.
 *
 * @module
 */

import { PATHS } from '@sallyport/protocol';
import { auditPrincipal } from '../audit/audit.ts';
import { auditOrigin } from '../audit/audit-origin.ts';
import type { RelyingParty } from '../issuer/relying-party/relying-party.ts';
import { buildSignedOutPage } from '../page/sign-out-pages.ts';
import { sealText } from '../session/seal.ts';
import { clearSessionCookie } from '../session/session-cookie.ts';
import type { OpenedSession } from '../session/sessions.ts';
import { retryUrl } from './login.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import { redirectTo, type SignInRequest, showPage } from './sign-in-request.ts';

/** What `state` is sealed for while the browser is at the IdP. */
export const SIGN_OUT_STATE = { purpose: 'sign-out-state', binding: '' } as const;
/** The IdP is informed of so many sessions of one browser, each with a request of its own; all of them end here. */
const TOLD_MAX = 16;
/** Pages of ours that redirect a browser without a session to sign in. */
const OWN_PAGES: ReadonlySet<string> = new Set([PATHS.account, PATHS.signedIn]);

/** Dependencies of {@link createSignOut}. */
export interface SignOutDependencies
  extends Pick<
    SignInDependencies,
    'redirects' | 'sessions' | 'cookies' | 'ring' | 'isProtectedPath' | 'audit'
  > {
  readonly relyingParty: Pick<RelyingParty, 'revoke' | 'endSessionUrl'>;
}

/** The steps of signing a browser out. */
export interface SignOut {
  /** The sessions of the cookie values a browser shows, with their tokens; ends none. */
  open(values: readonly string[]): Promise<readonly OpenedSession[]>;
  /**
   * Ends the sessions of the cookie values a browser shows, for every process. A planted cookie of the
   * same name may stand beside the real one, so every session shown is ended.
   */
  end(request: SignInRequest, values: readonly string[]): Promise<readonly OpenedSession[]>;
  /**
   * Informs the IdP of ended sessions, clears the cookie and sends the browser on: to the IdP's
   * end-session endpoint, which sends it back to `/logout`, or to a page of ours.
   *
   * @param target - Where it is to end; already allowed.
   */
  leave(ended: readonly OpenedSession[], target: string | undefined): Promise<Response>;
  /**
   * The last step: the target, or the signed-out page. A target that needs a session would start a
   * sign-in: it becomes the page's link instead.
   *
   * @param atIdp - Whether the IdP was informed.
   */
  arrive(target: string | undefined, atIdp: boolean, setCookies: readonly string[]): Response;
}

/** Creates the steps. @see [OIDC RP-Initiated Logout 1.0](https://openid.net/specs/openid-connect-rpinitiated-1_0.html) */
export function createSignOut(dependencies: SignOutDependencies): SignOut {
  const { redirects, sessions, relyingParty, cookies, ring, audit } = dependencies;

  return {
    async open(values) {
      const opened: OpenedSession[] = [];
      for (const value of values) {
        const session = await sessions.openWithTokens(value);
        if (session !== undefined) opened.push(session);
      }
      return opened;
    },

    async end(request, values) {
      const ended: OpenedSession[] = [];
      for (const value of values) {
        const opened = await sessions.end(value);
        if (opened === undefined) continue;
        ended.push(opened);
        const { id, principal } = opened.session;
        audit({
          event: 'session_ended',
          ...auditPrincipal(principal),
          session: id,
          ...auditOrigin(request),
          reason: 'signed_out',
        });
      }
      return ended;
    },

    async leave(ended, target) {
      const setCookies = [clearSessionCookie(cookies)];
      let location: URL | undefined;
      for (const { tokens } of ended.slice(0, TOLD_MAX)) {
        const isReachable =
          tokens?.refreshToken === undefined || (await relyingParty.revoke(tokens.refreshToken));
        location = isReachable ? await endSessionUrl(tokens?.idToken, target) : undefined;
      }
      return location === undefined
        ? arrive(target, ended.length === 0, setCookies)
        : redirectTo(location.href, setCookies, 303);
    },

    arrive,
  };

  function endSessionUrl(
    idToken: string | undefined,
    target: string | undefined,
  ): Promise<URL | undefined> {
    const state = target === undefined ? undefined : sealText(ring, SIGN_OUT_STATE, target);
    return relyingParty.endSessionUrl({ idToken, state });
  }

  function arrive(
    target: string | undefined,
    atIdp: boolean,
    setCookies: readonly string[],
  ): Response {
    const root = redirects.publicOrigin + PATHS.root;
    if (target !== undefined && atIdp && !needsSession(target))
      return redirectTo(target, setCookies);
    return showPage(buildSignedOutPage(retryUrl(target ?? root), atIdp), 200, setCookies);
  }

  function needsSession(target: string): boolean {
    const { origin, pathname } = new URL(target);
    if (origin !== redirects.publicOrigin) return false;
    return OWN_PAGES.has(pathname) || dependencies.isProtectedPath(pathname);
  }
}

/**
 * `GET /auth/signed-in`: where a sign-in in a pop-up window ends.
 *
 * @module
 */

import { buildSignedInAgainPage } from '../page/signed-in-again-page.ts';
import { digestAccount } from '../session/account-digest.ts';
import { retryUrl } from './login.ts';
import { findOwnSession } from './own-session.ts';
import { readAccount, signedInPath } from './popup.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import { refuseMethod, type SignInRequest, showFailure, showPage } from './sign-in-request.ts';

/**
 * Creates the endpoint. Without a session it leads to `/login`, and from there back here.
 *
 * `account` names who worked in the window that waits. When it is somebody else who signed in, the page
 * says so, and offers to sign in once more.
 */
export function createSignedIn(
  dependencies: SignInDependencies,
): (request: SignInRequest) => Promise<Response> {
  const { redirects } = dependencies;

  return async function signedIn(request) {
    const { method, query, requestId } = request;
    if (method !== 'GET' && method !== 'HEAD') return refuseMethod('GET, HEAD');
    const awaited = readAccount(query);
    if (awaited === 'not_understood') return showFailure('bad_request', { requestId });
    const path = signedInPath(awaited.digest);
    const own = await findOwnSession(dependencies, request, path);
    if (!own.ok) return own.error;
    const { principal, user, setCookies } = own.value;
    const account = digestAccount(principal);
    const isOther = awaited.digest !== undefined && awaited.digest !== account;
    const page = buildSignedInAgainPage({
      account,
      name: user.email || user.preferredUsername || user.subject,
      otherAccountUrl: isOther
        ? `${retryUrl(redirects.publicOrigin + path)}&prompt=select_account`
        : undefined,
    });
    return showPage(page, 200, setCookies);
  };
}

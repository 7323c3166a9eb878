/**
 * `GET /auth/signed-in`: where a sign-in in a pop-up window ends.
 *
 * @module
 */

import { PATHS } from '@sallyport/protocol';
import { buildSignedInAgainPage } from '../page/signed-in-again-page.ts';
import { digestAccount } from '../session/account-digest.ts';
import { findOwnSession } from './own-session.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import { refuseMethod, type SignInRequest, showPage } from './sign-in-request.ts';

/**
 * Creates the endpoint. Without a session it leads to `/login`, and from there back here.
 *
 * It does not look at the query: what the page does is decided between pages of our own origin.
 */
export function createSignedIn(
  dependencies: SignInDependencies,
): (request: SignInRequest) => Promise<Response> {
  return async function signedIn(request) {
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD') return refuseMethod('GET, HEAD');
    const own = await findOwnSession(dependencies, request, PATHS.signedIn);
    if (!own.ok) return own.error;
    const { principal, user, setCookies } = own.value;
    const page = buildSignedInAgainPage({
      account: digestAccount(principal),
      name: user.email || user.preferredUsername || user.subject,
    });
    return showPage(page, 200, setCookies);
  };
}

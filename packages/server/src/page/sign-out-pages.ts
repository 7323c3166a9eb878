/**
 * The pages of signing out: the question, and the result.
 *
 * @module
 */

import { html, PATHS } from '@sallyport/protocol';
import { buildPage, type Page } from './page.ts';

/**
 * Asks whether to sign out, for a request that another site could have made.
 *
 * @param action - Our own `/logout`, target included.
 * @param idpOrigin - Where the browser is sent afterwards.
 */
export function buildSignOutQuestionPage(action: string, idpOrigin: string | undefined): Page {
  return buildPage(
    'Sign out?',
    html`<p>You are about to sign out of this platform and of its identity provider.</p>
<div class="choice"><form method="post" action="${action}"><button class="act" type="submit">Sign out</button></form>
<a class="act quiet" href="${PATHS.root}">Stay signed in</a></div>
<p class="dim">We ask because nothing shows that you came from a page of this platform: another site may have sent you.</p>`,
    { formTargets: signOutTargets(idpOrigin) },
  );
}

/**
 * Where a form that signs out may end up.
 *
 * @param idpOrigin - Where the browser is sent first; from there the IdP may lead over further addresses.
 */
export function signOutTargets(idpOrigin: string | undefined): readonly string[] {
  return ['https:', ...(idpOrigin === undefined ? [] : [idpOrigin])];
}

/**
 * Says that the person is signed out. Never starts a sign-in by itself.
 *
 * @param signInUrl - Where "sign in again" leads.
 * @param atIdp - Whether the identity provider was informed: if not, its own session may still stand.
 */
export function buildSignedOutPage(signInUrl: string, atIdp: boolean): Page {
  return buildPage(
    'You are signed out',
    html`<p>${
      atIdp
        ? 'Your session here has ended.'
        : 'Your session here has ended. The identity provider could not be reached, so you may still be signed in there.'
    }</p>
<p><a class="act" href="${signInUrl}">Sign in again</a></p>
<p class="dim">On a shared computer, close the browser as well.</p>`,
  );
}

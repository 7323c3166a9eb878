/**
 * Where a sign-in in a pop-up window ends: notifies the pages of our origin, and does what they answer.
 *
 * @module
 */

import { html, PATHS, withoutUnprintable } from '@sallyport/protocol';
import { buildPage, type Page } from './page.ts';

/** Who signed in. */
export interface SignedInAgain {
  /** Digest of the account that is signed in now. */
  readonly account: string;
  /** How a person knows that account. Untrusted text. */
  readonly name: string;
}

/**
 * The same in every answer, so that one hash allows it. A channel and not `window.opener`: an identity
 * provider whose pages have a Cross-Origin-Opener-Policy cuts that, and any site can be the opener.
 */
export const SIGNED_IN_SCRIPT: string = `const [signedIn, other] = ['signed-in', 'other-account'].map((id) => document.getElementById(id));
const channel = new BroadcastChannel('sallyport');
channel.onmessage = ({ data }) => {
  if (data?.type === 'sallyport:go-on') close();
  if (data?.type !== 'sallyport:other-account') return;
  signedIn.hidden = true;
  other.hidden = false;
  document.title = document.querySelector('h1').textContent = 'This is another account';
};
channel.postMessage({ type: 'sallyport:signed-in', account: signedIn.dataset.account });
`;

const OTHER_ACCOUNT_URL = `${PATHS.login}?mode=popup&prompt=select_account`;

/**
 * Builds the page.
 *
 * The message goes to every page of our own origin, and says that a sign-in succeeded, and the digest of its
 * account. The window closes only when one of them answers to go on, and warns when one answers that it
 * belongs to another account. Another site cannot find out which pages these are: a page of another site that
 * opened the window could otherwise see by its closing who is signed in (`window.closed` is readable across origins).
 */
export function buildSignedInAgainPage({ account, name }: SignedInAgain): Page {
  const shown = withoutUnprintable(name);
  return buildPage(
    'Signed in',
    html`<p id="signed-in" data-account="${account}">You are signed in. You can close this window.</p>
<div id="other-account" role="alert" hidden><p>You signed in as <strong>${shown}</strong>. The other window was working with another account.</p>
<p><a class="act" href="${OTHER_ACCOUNT_URL}">Use another account</a></p>
<p class="dim">To go on as ${shown}, close this window and load the other one again: what was typed there belongs to the other account.</p></div>`,
    { script: SIGNED_IN_SCRIPT },
  );
}

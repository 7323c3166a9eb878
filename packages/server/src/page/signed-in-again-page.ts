/**
 * Where a sign-in in a pop-up window ends: tells the page that opened it, and closes itself.
 *
 * @module
 */

import { html } from './html.ts';
import { buildPage, type Page } from './page.ts';

/** Who signed in, and whether that is who the other window waits for. */
export interface SignedInAgain {
  /** Digest of the account that is signed in now. */
  readonly account: string;
  /** How a person knows that account. Untrusted text. */
  readonly name: string;
  /** Where to sign in as the one who worked in the other window; `undefined` when it is the same, or nobody said who. */
  readonly otherAccountUrl: string | undefined;
}

/**
 * The same for everybody, so that one hash allows it. A channel and not `window.opener`: an identity
 * provider whose pages have a Cross-Origin-Opener-Policy cuts that. The pause lets the message out of
 * a window that is about to go.
 */
export const SIGNED_IN_SCRIPT: string = `const { account, closes } = document.getElementById('signed-in').dataset;
new BroadcastChannel('sallyport').postMessage({ type: 'sallyport:signed-in', account });
if (closes === 'yes') setTimeout(close, 100);
`;

/**
 * Builds the page.
 *
 * The message goes to every page of our own origin, and says that somebody signed in, and as which
 * digest. When it is another account than the one asked for, the window stays and says so.
 */
export function buildSignedInAgainPage({ account, name, otherAccountUrl }: SignedInAgain): Page {
  const options = { script: SIGNED_IN_SCRIPT };
  if (otherAccountUrl === undefined) {
    return buildPage(
      'Signed in',
      html`<p id="signed-in" data-account="${account}" data-closes="yes">You are signed in. You can close this window.</p>`,
      options,
    );
  }
  return buildPage(
    'This is another account',
    html`<p id="signed-in" data-account="${account}" data-closes="no">You signed in as <strong>${name}</strong>. The other window was working as somebody else.</p>
<p><a class="act" href="${otherAccountUrl}">Use another account</a></p>
<p class="dim">To go on as ${name}, close this window and load the other one again: what was typed there belongs to the other account.</p>`,
    options,
  );
}

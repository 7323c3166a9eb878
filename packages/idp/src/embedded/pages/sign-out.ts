/**
 * Pages of signing out at the embedded IdP.
 *
 * @module
 */

import { html } from '@sallyport/protocol';
import { type ProtectedForm, renderPage } from './page.ts';

/** Renders the question that is asked when a request does not prove who wants to sign out. */
export function renderSignOutPage(form: ProtectedForm): string {
  return renderPage({
    title: 'Sign out?',
    content: html`<p>This ends your session at the identity provider. Applications ask you to sign in again.</p>
<form method="post" action="${form.action}">
<input type="hidden" name="xsrf" value="${form.xsrf}">
<button type="submit" name="logout" value="yes" autofocus>Sign out</button>
<button type="submit" class="quiet">Stay signed in</button>
</form>`,
  });
}

/** Renders the page after signing out, for a request that named no page to return to. */
export function renderSignedOutPage(): string {
  return renderPage({
    title: 'Signed out',
    content: html`<p>Your session at the identity provider has ended. You can close this page.</p>`,
  });
}

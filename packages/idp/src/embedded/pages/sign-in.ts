/**
 * The sign-in page.
 *
 * @module
 */

import { type Html, html } from '@sallyport/protocol';
import { ALERT_ID, renderPage } from './page.ts';

/** What the sign-in page shows. */
export interface SignInPage {
  /** Where the form is sent: a path of the IdP. */
  readonly action: string;
  /** Name of the application that asked for the sign-in. */
  readonly applicationName: string;
  /** What stands in the user name field already. Untrusted. */
  readonly login: string;
  readonly alert?: string;
}

/**
 * Renders the form with the fields `login` and `password` and a button that submits `cancel`.
 *
 * The password is never put back into the page.
 */
export function renderSignInPage({ action, applicationName, login, alert }: SignInPage): string {
  const isPasswordNext = login !== '';
  const problem =
    alert === undefined ? undefined : html` aria-invalid="true" aria-describedby="${ALERT_ID}"`;
  return renderPage({
    title: 'Sign in',
    alert,
    content: html`<p>to continue to <strong>${applicationName}</strong></p>
<form method="post" action="${action}">
<label for="login">User name</label>
<input id="login" name="login" autocomplete="username" autocapitalize="none" spellcheck="false" required value="${login}"${problem}${focus(!isPasswordNext)}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${problem}${focus(isPasswordNext)}>
<button type="submit">Sign in</button>
<button type="submit" class="quiet" name="cancel" value="yes" formnovalidate>Cancel</button>
</form>
<p class="dim note">For development only. The users are <code>ada</code> and <code>grace</code>. The terminal that started it shows their passwords, and the file <code>passwords</code> in its state folder has them.</p>`,
  });
}

function focus(isWanted: boolean): Html | undefined {
  return isWanted ? html` autofocus` : undefined;
}

/**
 * Pages of the device flow (RFC 8628 section 3.3): enter the code, confirm it, done.
 *
 * @module
 */

import { html } from '@sallyport/protocol';
import { ALERT_ID, type ProtectedForm, renderPage } from './page.ts';

/** Renders the page that asks for the code shown on the device. */
export function renderUserCodePage(form: ProtectedForm, alert?: string): string {
  const problem =
    alert === undefined ? undefined : html` aria-invalid="true" aria-describedby="${ALERT_ID}"`;
  return renderPage({
    title: 'Connect a device',
    alert,
    content: html`<p>Enter the code that your terminal or device shows.</p>
<form method="post" action="${form.action}">
<input type="hidden" name="xsrf" value="${form.xsrf}">
<label for="user_code">Code</label>
<input id="user_code" name="user_code" class="code" autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus${problem}>
<button type="submit">Continue</button>
</form>`,
  });
}

/** Renders the page on which a person compares the code with the one on the device. */
export function renderUserCodeConfirmPage(
  form: ProtectedForm,
  applicationName: string,
  userCode: string,
): string {
  return renderPage({
    title: 'Is this your device?',
    content: html`<p><strong>${applicationName}</strong> asks to act for you. Go on only if your device shows this code:</p>
<code class="shown">${userCode}</code>
<p class="dim">If you did not start this yourself, or the code differs, another person may be trying to use your account.</p>
<form method="post" action="${form.action}">
<input type="hidden" name="xsrf" value="${form.xsrf}">
<input type="hidden" name="user_code" value="${userCode}">
<input type="hidden" name="confirm" value="yes">
<button type="submit">Yes, connect it</button>
<button type="submit" class="quiet" name="abort" value="yes">No, refuse</button>
</form>`,
  });
}

/** Renders the page after a device was connected. */
export function renderDeviceConnectedPage(applicationName: string): string {
  return renderPage({
    title: 'Device connected',
    content: html`<p><strong>${applicationName}</strong> is signed in. You can close this page and go back to it.</p>`,
  });
}

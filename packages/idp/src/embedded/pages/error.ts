/**
 * The page for a request that cannot be answered by a redirect.
 *
 * @module
 */

import { html } from '@sallyport/protocol';
import { renderPage } from './page.ts';

/** Content of the error page. */
export interface ErrorPage {
  readonly title: string;
  /** What the person can do. */
  readonly advice: string;
  /** OAuth error code, for the developer. */
  readonly error?: string | undefined;
  /** Its description. Untrusted: it may repeat parts of the request. */
  readonly description?: string | undefined;
}

/** Renders the page; every part of it is text. */
export function renderErrorPage({ title, advice, error, description }: ErrorPage): string {
  const details =
    error === undefined
      ? undefined
      : html`<dl>
<dt>Error</dt><dd><code>${error}</code></dd>
${description === undefined ? undefined : html`<dt>Description</dt><dd>${description}</dd>`}
</dl>`;
  return renderPage({ title, content: html`<p>${advice}</p>${details}` });
}

/** Renders the answer to a sign-in that is over, or that this browser did not begin. */
export function renderExpiredSignInPage(): string {
  return renderErrorPage({
    title: 'This sign-in is no longer open',
    advice:
      'It was finished already, took too long, or began in another browser. Go back to the application and start again.',
  });
}

/** Renders the answer to a form that is too large or no form at all. */
export function renderUnreadableFormPage(): string {
  return renderErrorPage({
    title: 'The form could not be read',
    advice: 'Go back to the application and start again.',
  });
}

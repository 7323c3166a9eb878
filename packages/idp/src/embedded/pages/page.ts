/**
 * The frame around every page of the embedded IdP.
 *
 * @module
 */

import { type Html, html, renderDocument } from '@sallyport/protocol';
import { STYLE } from './style.ts';

/** A page without its frame. */
export interface PageContent {
  /** Said in the tab and as the heading. */
  readonly title: string;
  /** A problem, shown before the content; announced by screen readers. */
  readonly alert?: string | undefined;
  readonly content: Html;
}

/** A form that the provider protects with a token of the session. */
export interface ProtectedForm {
  /** Where the form is sent: a URL of the IdP. */
  readonly action: string;
  /** Token that proves the form was shown to this session. */
  readonly xsrf: string;
}

/** Identifier of the alert, for `aria-describedby` of the fields it is about. */
export const ALERT_ID = 'problem';

/**
 * Renders a whole document: self-contained, no script, no request to anywhere.
 *
 * @returns The document as text; to be sent as `text/html; charset=utf-8`.
 */
export function renderPage({ title, alert, content }: PageContent): string {
  const body = html`<main>
<header>Sallyport<span>Development identity provider</span></header>
<h1>${title}</h1>
${alert === undefined ? undefined : html`<p class="alert" id="${ALERT_ID}" role="alert">${alert}</p>`}
${content}
</main>`;
  return renderDocument({
    title: `${alert === undefined ? '' : 'Problem: '}${title} · Sallyport development IdP`,
    style: STYLE,
    body,
  });
}

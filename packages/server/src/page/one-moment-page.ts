/**
 * The page of a tab that waits for another one to finish signing in.
 *
 * @module
 */

import { html } from '@sallyport/protocol';
import { buildPage, type Page } from './page.ts';

/** Seconds until the browser asks again. */
const ASK_AGAIN_SECONDS = 1;

/**
 * Builds the page. It loads its own address again by itself, and then finds the session.
 *
 * @param retryUrl - The link for a person who does not want to wait.
 */
export function buildOneMomentPage(retryUrl: string): Page {
  const page = buildPage(
    'One moment',
    html`<p>Another tab of this browser is signing you in. This page goes on by itself once that is done.</p>
<p class="dim"><a href="${retryUrl}">Start again here</a></p>`,
  );
  return { ...page, headers: [...page.headers, ['refresh', String(ASK_AGAIN_SECONDS)]] };
}

/**
 * The page between a submitted form and what comes after it; seen only when something is slow.
 *
 * @module
 */

import { html } from '@sallyport/protocol';
import { renderPage } from './page.ts';

/**
 * Renders the page.
 *
 * @param target - URL that the `Refresh` header names as well.
 */
export function renderContinuePage(target: string): string {
  return renderPage({
    title: 'Going on',
    content: html`<p>If nothing happens, <a href="${target}">continue here</a>.</p>`,
  });
}

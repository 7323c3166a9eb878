/**
 * Ends a form submission before the redirects of a sign-in begin.
 *
 * A browser holds `form-action` against every redirect that follows a form, over all origins. Where
 * a deployment sends people after its callback is not known here, so the chain is cut: a browser
 * gets a page that goes on by itself, as a navigation that no form started.
 *
 * @module
 */

import type { Context } from 'oidc-provider/lib/provider.js';
import { renderContinuePage } from './pages/continue.ts';

/**
 * Turns the redirect that answers a browser's form into a page with a `Refresh` header. A program,
 * which sends no `Sec-Fetch-Mode: navigate`, keeps its 303.
 */
export async function leaveForm(context: Context, next: () => Promise<void>): Promise<void> {
  await next();
  const { req, res } = context;
  const target = res.getHeader('location');
  if (context.method !== 'POST' || context.status !== 303 || typeof target !== 'string') return;
  if (req.headers['sec-fetch-mode'] !== 'navigate') return;
  res.removeHeader('location');
  context.status = 200;
  context.type = 'html';
  context.set('refresh', `0;url=${target}`);
  context.body = renderContinuePage(target);
}

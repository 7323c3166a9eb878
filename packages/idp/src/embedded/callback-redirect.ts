/**
 * The redirect that takes a person back to the application.
 *
 * @module
 */

import type { Context, RouteContext } from 'oidc-provider/lib/provider.js';

const ROUTES: ReadonlySet<string> = new Set(['authorization', 'resume']);

/**
 * Answers an authorization request with 302 (requirement, "Browser login flow", step 5), where the library
 * writes 303. After a form it stays 303, which no browser repeats the form for.
 *
 * @see [RFC 6749 section 4.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2) the answer, as a 302
 * @see [RFC 9700 section 4.12](https://www.rfc-editor.org/rfc/rfc9700#section-4.12) 303 after a form
 */
export async function redirectToCallback(
  context: Context | RouteContext,
  next: () => Promise<void>,
): Promise<void> {
  await next();
  const route = 'oidc' in context ? context.oidc.route : '';
  const target = context.res.getHeader('location');
  // An address of its own has no origin in it: that is the way to a page, not back.
  const isCallback = typeof target === 'string' && !target.startsWith('/');
  if (context.method === 'GET' && context.status === 303 && ROUTES.has(route) && isCallback)
    context.status = 302;
}

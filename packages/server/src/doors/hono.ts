/**
 * The door of a Hono service: a middleware that knows who asks.
 *
 * @module
 */

import type { HttpBindings } from '@hono/node-server';
import type { Principal, UserRecord } from '@sallyport/protocol';
import type { MiddlewareHandler } from 'hono';
import { selectTransport } from '../answer/caller.ts';
import { type PageDoorOptions, shapeRefusal } from './refusal.ts';
import { findGrants } from './unshared.ts';
import { formatHeaders } from './web-headers.ts';

/** Types of the routes behind the middleware: `new Hono<AuthEnv>()`. */
export interface AuthEnv {
  Variables: {
    principal: Principal;
    user: UserRecord;
  };
}

/**
 * Creates the middleware. Behind it `context.get('principal')` is verified.
 *
 * A refusal is shaped for the caller's kind: a problem document for a program and, unless `redirectsPages` is
 * set, for a page load; the protocol's own error for a call over Connect or gRPC-Web. A route that is to be
 * open is mounted outside.
 */
export function createAuthMiddleware(options: PageDoorOptions): MiddlewareHandler<AuthEnv> {
  return async (context, next) => {
    const { method, headers: sent } = context.req.raw;
    const { headers, rawHeaders } = formatHeaders(sent);
    const bindings = context.env as Partial<HttpBindings> | undefined;
    const verdict = await options.check({
      method,
      headers,
      // Node's own list still shows a header that was sent twice.
      rawHeaders: bindings?.incoming?.rawHeaders ?? rawHeaders,
      transport: selectTransport(headers),
    });
    if (verdict.outcome === 'admitted') {
      context.set('principal', verdict.identity.principal);
      context.set('user', verdict.identity.user);
      await next();
      if (verdict.setCookie !== undefined) {
        const { names, cacheControl } = findGrants(context.res.headers);
        // Not on the headers themselves: those of an answer that was fetched cannot be changed.
        for (const name of names) context.header(name, undefined);
        context.header('cache-control', cacheControl);
        context.header('set-cookie', verdict.setCookie, { append: true });
      }
      return;
    }
    const { pathname, search } = new URL(context.req.url);
    const answer = shapeRefusal(verdict, { method, headers, target: pathname + search }, options);
    return new Response(answer.body, {
      status: answer.status,
      headers: answer.headers.map(([name, value]): [string, string] => [name, value]),
    });
  };
}

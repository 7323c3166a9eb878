/**
 * Every route but the doors', on Hono: translates requests, and answers what fails.
 *
 * @module
 */

import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server';
import { PATHS } from '@sallyport/protocol';
import { type Context, Hono } from 'hono';
import type { WaitingFor } from './health/readiness.ts';
import { addressOf, type ClientAddress } from './listener/client-address.ts';
import type { HttpHandler } from './listener/connections.ts';
import type { Log } from './log/log.ts';
import { requestIdOf } from './log/request-id.ts';
import { answerThrown } from './sign-in/request-failure.ts';
import type { Endpoint } from './sign-in/sign-in-endpoints.ts';
import type { SignInRequest } from './sign-in/sign-in-request.ts';
import type { CheckRequest } from './verdict/check-request.ts';

/** What the routes are made from. */
export interface RouterOptions {
  /** Absent when `useAuth` is false: none of these routes exists then. */
  readonly signIn: SignInRoutes | undefined;
  readonly clientAddress: ClientAddress;
  /** What `/readyz` says. */
  readonly waitingFor: WaitingFor;
  readonly log: Log;
}

/** The routes of sign-in. */
export interface SignInRoutes {
  /** By path, for every method. */
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  /** `GET /auth/session`. */
  readonly sessionStatus: (request: CheckRequest) => Promise<Response>;
  /** The web app's keys; absent where it proves itself by a secret. */
  readonly clientKeys: (() => Response) | undefined;
}

type Env = { Bindings: HttpBindings | Http2Bindings };

const OWN_JSON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Creates the handler. A path that it does not know is 404. */
export function createRouter({
  signIn,
  clientAddress,
  waitingFor,
  log,
}: RouterOptions): HttpHandler {
  const app = new Hono<Env>();

  app.get(PATHS.healthz, (context) => context.json({ status: 'ok' }, 200, OWN_JSON_HEADERS));
  app.get(PATHS.readyz, async (context) => {
    const missing = await waitingFor();
    return missing.length === 0
      ? context.json({ status: 'ready' }, 200, OWN_JSON_HEADERS)
      : context.json({ status: 'not_ready', waiting_for: missing }, 503, OWN_JSON_HEADERS);
  });

  if (signIn !== undefined) {
    for (const [path, endpoint] of Object.entries(signIn.endpoints)) {
      app.all(path, (context) =>
        endpoint({ ...toSignInRequest(context), body: context.env.incoming }),
      );
    }
    app.get(PATHS.session, (context) =>
      signIn.sessionStatus({ ...toSignInRequest(context), transport: 'http' }),
    );
    if (signIn.clientKeys !== undefined) app.get(PATHS.jwks, signIn.clientKeys);
  }

  app.notFound((context) =>
    context.json({ status: 404, title: 'No such route' }, 404, OWN_JSON_HEADERS),
  );
  app.onError((cause, context) => answerThrown(toSignInRequest(context), cause, log));
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    // No route looks at the Host, and a probe with HTTP/1.0 has none.
    hostname: 'localhost',
  });
  // The listener answers every failure itself; its promise only says when it is done.
  return (req, res) => void listener(req, res);

  function toSignInRequest(context: Context<Env>): SignInRequest {
    const { incoming } = context.env;
    return {
      method: incoming.method ?? 'GET',
      query: new URL(context.req.url).searchParams,
      headers: incoming.headers,
      rawHeaders: incoming.rawHeaders,
      address: addressOf(incoming, clientAddress),
      requestId: requestIdOf(incoming.headers),
    };
  }
}

/**
 * Every route but `/me`, on Hono: translates requests, holds back the impatient, catches what fails.
 *
 * @module
 */

import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server';
import { PATHS, SallyportError } from '@sallyport/protocol';
import { type Context, Hono } from 'hono';
import { isBackground } from './answer/caller.ts';
import { toProblemJson } from './answer/problem.ts';
import { createSessionStatus } from './doors/session-status.ts';
import type { WaitingFor } from './health/readiness.ts';
import type { ClientKeys } from './issuer/relying-party/client-keys.ts';
import { addressBlock, type ClientAddress } from './listener/client-address.ts';
import type { HttpHandler } from './listener/connections.ts';
import { describeFailure, type Log } from './log/log.ts';
import { requestIdOf } from './log/request-id.ts';
import type { FailureReason } from './page/failure-page.ts';
import { PrincipalSessions } from './session/principal-sessions.ts';
import { readSessionValues } from './session/session-cookie.ts';
import type { Session } from './session/session-record.ts';
import type { SessionRefusal } from './session/sessions.ts';
import { createAccount } from './sign-in/account.ts';
import { createBackchannelLogout } from './sign-in/backchannel-logout.ts';
import { createCallback } from './sign-in/callback.ts';
import { createClientKeysEndpoint } from './sign-in/client-keys-endpoint.ts';
import { isCounted } from './sign-in/counted-request.ts';
import type { KeptLogouts } from './sign-in/kept-logouts.ts';
import { createLogin } from './sign-in/login.ts';
import { createLogout } from './sign-in/logout.ts';
import type { RateLimit } from './sign-in/rate-limit.ts';
import type { SignInDependencies } from './sign-in/sign-in-dependencies.ts';
import { refuseBackground, type SignInRequest, showFailure } from './sign-in/sign-in-request.ts';
import { createSignedIn } from './sign-in/signed-in.ts';
import type { Check } from './verdict/check.ts';

/** What the routes are made from. */
export interface RouterOptions {
  /** Absent when `useAuth` is false: none of the sign-in routes exists then. */
  readonly signIn: (SignInDependencies & { readonly keptLogouts: KeptLogouts }) | undefined;
  /** The check as `/auth/session` asks it; by default the sign-in's own. */
  readonly checkStatus?: Check | undefined;
  /** The web app's keys; absent where it proves itself by a secret. */
  readonly clientKeys?: ClientKeys | undefined;
  readonly clientAddress: ClientAddress;
  /** Whether a client address means anything: without trusted proxies everybody may share one. */
  readonly countsAddresses: boolean;
  readonly rateLimit: RateLimit;
  /** What `/readyz` says. */
  readonly waitingFor: WaitingFor;
  readonly now: () => number;
  readonly log: Log;
}

type Env = { Bindings: HttpBindings | Http2Bindings };

const OWN_JSON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Creates the listener for every route but `/me`. */
export function createRouter(options: RouterOptions): HttpHandler {
  const { signIn, log } = options;
  const app = new Hono<Env>();

  app.get(PATHS.healthz, (context) => context.json({ status: 'ok' }, 200, OWN_JSON_HEADERS));
  app.get(PATHS.readyz, async (context) => {
    const missing = await options.waitingFor();
    return missing.length === 0
      ? context.json({ status: 'ready' }, 200, OWN_JSON_HEADERS)
      : context.json({ status: 'not_ready', waiting_for: missing }, 503, OWN_JSON_HEADERS);
  });

  if (signIn !== undefined) {
    const { store, ring, relyingParty, attempts } = signIn;
    const { rateLimit, countsAddresses, now } = options;
    const principalSessions = new PrincipalSessions({ store, ring, now });
    const endpoints = {
      [PATHS.login]: createLogin(signIn),
      [PATHS.callback]: createCallback(signIn),
      [PATHS.logout]: createLogout(signIn),
      [PATHS.account]: createAccount({ ...signIn, principalSessions, now }),
      [PATHS.signedIn]: createSignedIn(signIn),
    };
    for (const [path, endpoint] of Object.entries(endpoints)) {
      app.all(path, async (context) => {
        const request = { ...toSignInRequest(context), body: context.env.incoming };
        try {
          if (isCounted(path, request, { publicOrigin: signIn.redirects.publicOrigin, attempts })) {
            const held = await holdBack(request, signIn);
            if (held !== undefined) return fail(request, 'rate_limited', held);
          } else if (path !== PATHS.logout) {
            return refuseBackground(request, signIn.redirects.publicOrigin);
          }
          return await endpoint(request);
        } catch (cause) {
          return failed(request, cause);
        }
      });
    }
    const backchannelLogout = createBackchannelLogout({
      relyingParty,
      store,
      rateLimit,
      countsAddresses,
      log,
      audit: signIn.audit,
      sessions: principalSessions,
      keptLogouts: signIn.keptLogouts,
    });
    app.all(PATHS.backchannelLogout, (context) =>
      backchannelLogout({ ...toSignInRequest(context), body: context.env.incoming }),
    );
    const sessionStatus = createSessionStatus({
      check: options.checkStatus ?? signIn.check,
      publicOrigin: signIn.redirects.publicOrigin,
      now: options.now,
    });
    app.get(PATHS.session, (context) =>
      sessionStatus({ ...toSignInRequest(context), transport: 'http' }),
    );
  }

  if (options.clientKeys !== undefined)
    app.get(PATHS.jwks, createClientKeysEndpoint(options.clientKeys));

  app.notFound((context) =>
    context.json({ status: 404, title: 'No such route' }, 404, OWN_JSON_HEADERS),
  );
  app.onError((cause, context) => failed(toSignInRequest(context), cause));
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    // No route looks at the Host, and a probe with HTTP/1.0 has none.
    hostname: 'localhost',
  });
  // The listener answers every failure itself; its promise only says when it is done.
  return (req, res) => void listener(req, res);

  function toSignInRequest(context: Context<Env>): SignInRequest {
    const { incoming } = context.env;
    const forwardedFor = incoming.headers['x-forwarded-for'];
    return {
      method: incoming.method ?? 'GET',
      query: new URL(context.req.url).searchParams,
      headers: incoming.headers,
      rawHeaders: incoming.rawHeaders,
      address: options.clientAddress(
        incoming.socket.remoteAddress,
        Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor,
      ),
      requestId: requestIdOf(incoming.headers),
    };
  }

  /** Seconds to wait, when this client or session asks too often. */
  async function holdBack(
    { address, headers }: SignInRequest,
    { sessions, cookies }: SignInDependencies,
  ): Promise<number | undefined> {
    const turn = options.countsAddresses
      ? options.rateLimit(`address ${addressBlock(address)}`)
      : ({ ok: true } as const);
    if (!turn.ok) return turn.retryAfterSeconds;
    // A value that is no session may be planted in many browsers, by somebody who uses up its turns.
    const shown: readonly (Session | SessionRefusal)[] = await sessions
      .findAll(readSessionValues(headers.cookie, cookies.sessionName))
      .catch(() => []);
    const session = shown.find((each) => typeof each === 'object');
    const own = session === undefined ? turn : options.rateLimit(`session ${session.id}`);
    return own.ok ? undefined : own.retryAfterSeconds;
  }

  /** The one place where a thrown failure becomes an answer. It never admits. */
  function failed(request: SignInRequest, cause: unknown): Response {
    log('error', 'request_failed', {
      failure: describeFailure(cause),
      request_id: request.requestId,
    });
    if (cause instanceof SallyportError)
      return fail(request, 'store_unavailable', cause.retryAfterSeconds ?? 5);
    return fail(request, 'unexpected', undefined);
  }
}

/** A failure as a page, or as a problem for what no person looks at. */
function fail(
  request: SignInRequest,
  reason: FailureReason,
  retryAfterSeconds: number | undefined,
): Response {
  const { requestId } = request;
  if (!isBackground(request)) {
    return showFailure(
      reason,
      { requestId },
      retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
    );
  }
  const { status, headers, body } = toProblemJson({
    status: reason === 'rate_limited' ? 429 : 503,
    reason,
    title: 'This cannot be answered at the moment',
    requestId,
    loginUrl: '',
    retryAfterSeconds: retryAfterSeconds ?? 5,
    bearerShown: false,
  });
  return new Response(body, { status, headers: headers.map(([name, value]) => [name, value]) });
}

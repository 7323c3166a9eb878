/**
 * The endpoints of sign-in by their paths, each behind the rate limit.
 *
 * @module
 */

import type { Readable } from 'node:stream';
import { PATHS } from '@sallyport/protocol';
import { addressBlock } from '../listener/client-address.ts';
import { PrincipalSessions } from '../session/principal-sessions.ts';
import { readSessionValues } from '../session/session-cookie.ts';
import type { Session } from '../session/session-record.ts';
import type { SessionRefusal } from '../session/sessions.ts';
import { createAccount } from './account.ts';
import { createBackchannelLogout } from './backchannel-logout.ts';
import { createCallback } from './callback.ts';
import { isCounted } from './counted-request.ts';
import type { KeptLogouts } from './kept-logouts.ts';
import { createLogin } from './login.ts';
import { createLogout } from './logout.ts';
import type { RateLimit } from './rate-limit.ts';
import { answerFailure, answerThrown } from './request-failure.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import { refuseBackground, type SignInRequest } from './sign-in-request.ts';
import { createSignedIn } from './signed-in.ts';

/** What the endpoints are made from. */
export interface SignInEndpointsOptions extends SignInDependencies {
  readonly keptLogouts: KeptLogouts;
  /** Whether a client address means anything: without trusted proxies all clients may share one. */
  readonly countsAddresses: boolean;
  readonly rateLimit: RateLimit;
  readonly now: () => number;
}

/** A request whose body is not read yet. */
export type EndpointRequest = SignInRequest & { readonly body: Readable };

/** Answers a request of any method. */
export type Endpoint = (request: EndpointRequest) => Promise<Response>;

/** Creates the endpoints; what one of them throws becomes a page or a problem document. */
export function createSignInEndpoints(
  options: SignInEndpointsOptions,
): Readonly<Record<string, Endpoint>> {
  const { store, ring, relyingParty, attempts, rateLimit, countsAddresses, now, log } = options;
  const { publicOrigin } = options.redirects;
  const principalSessions = new PrincipalSessions({ store, ring, now });
  const limited = {
    [PATHS.login]: createLogin(options),
    [PATHS.callback]: createCallback(options),
    [PATHS.logout]: createLogout(options),
    [PATHS.account]: createAccount({ ...options, principalSessions, now }),
    [PATHS.signedIn]: createSignedIn(options),
  };
  const backchannelLogout = createBackchannelLogout({
    relyingParty,
    store,
    rateLimit,
    countsAddresses,
    log,
    audit: options.audit,
    sessions: principalSessions,
    keptLogouts: options.keptLogouts,
  });
  return {
    ...Object.fromEntries(
      Object.entries(limited).map(([path, endpoint]) => [path, limit(path, endpoint)]),
    ),
    [PATHS.backchannelLogout]: backchannelLogout,
  };

  function limit(
    path: string,
    endpoint: (request: EndpointRequest) => Promise<Response>,
  ): Endpoint {
    return async (request) => {
      try {
        if (isCounted(path, request, { publicOrigin, attempts })) {
          const waitSeconds = await takeTurn(request);
          if (waitSeconds !== undefined) return answerFailure(request, 'rate_limited', waitSeconds);
        } else if (path !== PATHS.logout) {
          return refuseBackground(request, publicOrigin);
        }
        return await endpoint(request);
      } catch (cause) {
        return answerThrown(request, cause, log);
      }
    };
  }

  /** Seconds to wait, when this client or session asks too often. */
  async function takeTurn({ address, headers }: SignInRequest): Promise<number | undefined> {
    const { sessions, cookies } = options;
    const turn = countsAddresses
      ? rateLimit(`address ${addressBlock(address)}`)
      : ({ ok: true } as const);
    if (!turn.ok) return turn.retryAfterSeconds;
    // A value that is no session may be planted in many browsers, by an attacker who uses up its turns.
    const shown: readonly (Session | SessionRefusal)[] = await sessions
      .findAll(readSessionValues(headers.cookie, cookies.sessionName))
      .catch(() => []);
    const session = shown.find((each) => typeof each === 'object');
    const own = session === undefined ? turn : rateLimit(`session ${session.id}`);
    return own.ok ? undefined : own.retryAfterSeconds;
  }
}

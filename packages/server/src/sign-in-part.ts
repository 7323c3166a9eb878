/**
 * Sign-in and sign-out, put together: the endpoints, the status of a session, and the web app's keys.
 *
 * @module
 */

import type { AdminServerOptions } from './admin-server-options.ts';
import type { Ask } from './doors/door.ts';
import { createSessionStatus, statusDoor } from './doors/session-status.ts';
import type { SignInRoutes } from './router.ts';
import type { SessionPart } from './session-part.ts';
import { Attempts } from './sign-in/attempt.ts';
import { createClientKeysEndpoint } from './sign-in/client-keys-endpoint.ts';
import { createKeptLogouts } from './sign-in/kept-logouts.ts';
import { createRateLimit, type RateLimit } from './sign-in/rate-limit.ts';
import { createSignInEndpoints } from './sign-in/sign-in-endpoints.ts';
import type { Check } from './verdict/check.ts';

/** The routes, and what ends with them. */
export interface SignInPart {
  readonly routes: SignInRoutes;
  close(): void;
}

/**
 * Creates the routes.
 *
 * @param check - For the pages themselves: `/login` asks whether the person is signed in already, which no door does.
 */
export function createSignInPart(
  options: AdminServerOptions,
  { cookies, ring, sessions }: SessionPart,
  check: Check,
  ask: Ask,
): SignInPart {
  const { store, relyingParty, now, schedule, log, audit, claimHeaders, clientKeys } = options;
  const publicOrigin = options.publicUrl.origin;
  const turns = createRateLimit(options.rateLimitPerMinute, now);
  const rateLimit: RateLimit = (key, takes) => {
    const turn = turns(key, takes);
    if (!turn.ok) log('debug', 'rate_limited');
    return turn;
  };
  const keptLogouts = createKeptLogouts({ schedule, now, log });
  const endpoints = createSignInEndpoints({
    redirects: {
      publicOrigin,
      redirectOrigins: new Set(options.redirectOrigins),
      landing: new URL(options.landing, publicOrigin).href,
    },
    cookies,
    check,
    sessions,
    store,
    ring,
    attempts: new Attempts({ ring, cookies, now }),
    relyingParty,
    keptLogouts,
    access: () => options.access,
    claimHeaders,
    idpQueryParameter: options.idpQueryParameter,
    isProtectedPath: (path) => options.matchRoute(path, 'http').protected,
    countsAddresses: options.trustedProxies.length > 0,
    rateLimit,
    now,
    log,
    audit,
  });
  return {
    routes: {
      endpoints,
      sessionStatus: createSessionStatus({ check: ask(statusDoor), publicOrigin, now }),
      clientKeys: clientKeys === undefined ? undefined : createClientKeysEndpoint(clientKeys),
    },
    close: () => keptLogouts.close(),
  };
}

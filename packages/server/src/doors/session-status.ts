/**
 * `GET /auth/session`: tells a page of ours whether somebody is signed in, who worked there, and for how long.
 *
 * @module
 */

import { PATHS } from '@sallyport/protocol';
import { JSON_HEADERS } from '../answer/problem.ts';
import { digestAccount } from '../session/account-digest.ts';
import type { Check } from '../verdict/check.ts';
import type { CheckRequest } from '../verdict/check-request.ts';

/** Dependencies of {@link createSessionStatus}. */
export interface SessionStatusOptions {
  readonly check: Check;
  readonly publicOrigin: string;
  readonly now: () => number;
}

/**
 * Creates the endpoint. Always 200 when it can tell, so that a page may ask without an error in its
 * console; 503 when nobody can. Holds no token and no identity: `account` only tells two people apart.
 * Asking is no use of the session, and slides neither its idle time nor its cookie.
 *
 * @returns JSON: `authenticated` and `login_url`; with a session `age` and `expires_in` in seconds, and
 *   `account`.
 */
export function createSessionStatus({
  check,
  publicOrigin,
  now,
}: SessionStatusOptions): (request: CheckRequest) => Promise<Response> {
  return async function sessionStatus(request) {
    const verdict = await check({ ...request, isPassive: true });
    const headers = Object.fromEntries(JSON_HEADERS);
    if (verdict.outcome === 'undecided') {
      return Response.json(
        { reason: verdict.reason },
        { status: 503, headers: { ...headers, 'retry-after': String(verdict.retryAfterSeconds) } },
      );
    }
    const loginUrl = publicOrigin + PATHS.login;
    if (verdict.outcome === 'refused' || verdict.session === undefined)
      return Response.json({ authenticated: false, login_url: loginUrl }, { headers });
    const { createdAt, endsAt } = verdict.session;
    return Response.json(
      {
        authenticated: true,
        age: Math.floor((now() - createdAt) / 1_000),
        expires_in: Math.max(0, Math.floor((endsAt - now()) / 1_000)),
        account: digestAccount(verdict.identity.principal),
        login_url: loginUrl,
      },
      { headers },
    );
  };
}

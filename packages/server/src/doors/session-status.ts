/**
 * `GET /auth/session`: whether the browser of a page of ours is signed in, whether the account changed, and for how long.
 *
 * @module
 */

import { PATHS } from '@sallyport/protocol';
import { JSON_HEADERS } from '../answer/problem.ts';
import { digestAccount } from '../session/account-digest.ts';
import type { Check } from '../verdict/check.ts';
import type { CheckRequest } from '../verdict/check-request.ts';
import type { Identity, SessionView, Undecided } from '../verdict/verdict.ts';
import type { NamedDoor } from './door.ts';

/** Under this name its verdicts are counted. */
export const statusDoor: NamedDoor = { name: 'status' };

/** Dependencies of {@link createSessionStatus}. */
export interface SessionStatusOptions {
  readonly check: Check;
  readonly publicOrigin: string;
  readonly now: () => number;
}

/**
 * Creates the endpoint. Always 200 when that is decided, so that a page may ask without an error in its
 * console; 503 when it is undecided. Holds no token and no identity: `account` only distinguishes two people.
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
  const headers = Object.fromEntries(JSON_HEADERS);
  const loginUrl = publicOrigin + PATHS.login;

  return async function sessionStatus(request) {
    const verdict = await check({ ...request, isPassive: true });
    switch (verdict.outcome) {
      case 'admitted':
        return verdict.session === undefined
          ? answerSignedOut()
          : answerSignedIn(verdict.session, verdict.identity);
      case 'refused':
        return answerSignedOut();
      case 'undecided':
        return answerUndecided(verdict);
      default:
        verdict satisfies never;
        return answerUndecided({ reason: 'store_unavailable', retryAfterSeconds: 1 });
    }
  };

  function answerSignedIn({ createdAt, endsAt }: SessionView, { principal }: Identity): Response {
    return Response.json(
      {
        authenticated: true,
        age: Math.floor((now() - createdAt) / 1_000),
        expires_in: Math.max(0, Math.floor((endsAt - now()) / 1_000)),
        account: digestAccount(principal),
        login_url: loginUrl,
      },
      { headers },
    );
  }

  function answerSignedOut(): Response {
    return Response.json({ authenticated: false, login_url: loginUrl }, { headers });
  }

  function answerUndecided({
    reason,
    retryAfterSeconds,
  }: Pick<Undecided, 'reason' | 'retryAfterSeconds'>): Response {
    return Response.json(
      { reason },
      { status: 503, headers: { ...headers, 'retry-after': String(retryAfterSeconds) } },
    );
  }
}

/**
 * From verdict to answer: alone decides status, headers and body, for every door.
 *
 * @module
 */

import { type HeaderPair, PATHS } from '@sallyport/protocol';
import { buildFailurePage, type FailureReason } from '../page/failure-page.ts';
import type {
  RefusalReason,
  Refused,
  Undecided,
  UndecidedReason,
  Verdict,
} from '../verdict/verdict.ts';
import type { Answer, Denial } from './answer.ts';
import type { CallerKind } from './caller.ts';
import {
  NO_STORE_HEADERS,
  type Problem,
  toConnectError,
  toGrpcStatus,
  toProblemJson,
} from './problem.ts';

/** Who asks, and for what. Untrusted but for `kind` and `requestId`. */
export interface Caller {
  readonly kind: CallerKind;
  /** The Accept header, whole. */
  readonly accept: string | undefined;
  /** Path and query of the original request. */
  readonly target: string;
  readonly requestId: string;
}

const TITLES: Readonly<Record<RefusalReason | UndecidedReason, string>> = {
  no_credential: 'Sign in first',
  session_unknown: 'This session is not known',
  session_expired: 'This session has ended',
  signed_out: 'This session was signed out',
  session_replaced: 'This session was replaced by a new sign-in',
  session_revoked: 'This session was ended',
  renewal_refused: 'The identity provider no longer confirms this session',
  renewal_lost: 'This session could not be renewed',
  ambiguous_credentials: 'More than one credential was sent',
  bearer_not_accepted: 'This bearer token is not accepted',
  insufficient_scope: 'This bearer token lacks a scope',
  cross_site: 'Another site may not write here',
  not_allowed: 'This account may not enter',
  store_unavailable: 'Sessions cannot be read at the moment',
  issuer_unavailable: 'Bearer tokens cannot be verified at the moment',
  renewal_unavailable: 'The identity provider cannot be asked about this session at the moment',
};

/**
 * A caller with a bearer is no browser, and would be redirected in a loop: signing in does not take
 * it away.
 */
const BEARER_REASONS: ReadonlySet<string> = new Set<RefusalReason | UndecidedReason>([
  'ambiguous_credentials',
  'bearer_not_accepted',
  'insufficient_scope',
  'issuer_unavailable',
]);
/** The caller is known, and signing in again would change nothing. */
const FORBIDDEN_REASONS: ReadonlySet<string> = new Set<RefusalReason>([
  'cross_site',
  'insufficient_scope',
  'not_allowed',
]);

/**
 * Shapes the answer to a verdict. Pure.
 *
 * A denied navigation is redirected to `/login` with the original path and query escaped, or shown
 * a page; a program gets 401 or 403 as a problem document, a Connect call its own error, a gRPC call
 * its status in headers; a subrequest exactly 200, 401, 403 or 503, with the sign-in address in
 * `Location` on 401 for a proxy that wants it.
 *
 * @param publicOrigin - Where `/login` is; never taken from the request.
 *
 * @see Requirement, "Ingress annotations on protected routes", rules 2 and 3.
 */
export function shapeAnswer(verdict: Verdict, caller: Caller, publicOrigin: string): Answer {
  if (verdict.outcome !== 'admitted') return shapeDenial(verdict, caller, publicOrigin);
  const { identity, setCookie } = verdict;
  return {
    outcome: 'admitted',
    identityHeaders: inPairs(identity.headers),
    setCookie,
    body: caller.accept === 'application/json' ? identity.body.snakeCase : identity.body.camelCase,
  };
}

/** Header names with the values that stand behind them. */
function inPairs(flat: readonly string[]): readonly HeaderPair[] {
  const pairs: HeaderPair[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return pairs;
}

/** The address a person signs in at and comes back from. */
export function loginUrl(publicOrigin: string, target: string): string {
  return `${publicOrigin}${PATHS.login}?redirect_url=${encodeURIComponent(target.toWellFormed())}`;
}

/** Headers of `/me` together stay under 3,500 bytes, a proxy's default buffer; this is their longest. */
const LOGIN_URL_MAX_LENGTH = 2_800;

/**
 * Where a proxy may send a navigation on 401. nginx cannot escape a URL by itself, so the check spells
 * it; a target too long for the headers is left out, and the sign-in ends on the public root.
 */
function subrequestLoginUrl(publicOrigin: string, target: string): string {
  const url = loginUrl(publicOrigin, target);
  return url.length <= LOGIN_URL_MAX_LENGTH ? url : publicOrigin + PATHS.login;
}

/** The part of {@link shapeAnswer} for callers that are not admitted. */
export function shapeDenial(
  verdict: Refused | Undecided,
  caller: Caller,
  publicOrigin: string,
): Denial {
  const status = statusOf(verdict);
  if (caller.kind === 'navigation' && !BEARER_REASONS.has(verdict.reason)) {
    if (status === 401) {
      const headers = [
        ...NO_STORE_HEADERS,
        ['location', loginUrl(publicOrigin, caller.target)] as const,
      ];
      return { outcome: 'denied', status: 302, headers, body: '' };
    }
    return denialPage(verdict, status, caller, publicOrigin);
  }
  const problem = toProblem(verdict, caller.requestId, publicOrigin);
  switch (caller.kind) {
    case 'grpc':
      return { outcome: 'denied', ...toGrpcStatus(problem) };
    case 'grpc-web':
      return { outcome: 'denied', ...toGrpcStatus(problem, 'application/grpc-web') };
    case 'connect':
      return { outcome: 'denied', ...toConnectError(problem) };
    case 'navigation':
    case 'program':
      return { outcome: 'denied', ...toProblemJson(problem) };
    case 'subrequest': {
      const answer = toProblemJson(problem);
      if (status !== 401) return { outcome: 'denied', ...answer };
      const location = ['location', subrequestLoginUrl(publicOrigin, caller.target)] as const;
      return { outcome: 'denied', ...answer, headers: [...answer.headers, location] };
    }
  }
}

/** The problem behind a refusal, for doors whose protocol writes it by itself. */
export function toProblem(
  verdict: Refused | Undecided,
  requestId: string,
  publicOrigin: string,
): Problem {
  return {
    status: statusOf(verdict),
    reason: verdict.reason,
    title: TITLES[verdict.reason],
    requestId,
    loginUrl: `${publicOrigin}${PATHS.login}`,
    retryAfterSeconds: verdict.outcome === 'undecided' ? verdict.retryAfterSeconds : undefined,
    bearerShown:
      verdict.reason === 'bearer_not_accepted' || verdict.reason === 'insufficient_scope',
  };
}

/** An outcome that is none of the two does not compile here, and is 503 where it comes about all the same. */
function statusOf(verdict: Refused | Undecided): 401 | 403 | 503 {
  switch (verdict.outcome) {
    case 'refused':
      return FORBIDDEN_REASONS.has(verdict.reason) ? 403 : 401;
    case 'undecided':
      return 503;
    default:
      verdict satisfies never;
      return 503;
  }
}

function denialPage(
  verdict: Refused | Undecided,
  status: 401 | 403 | 503,
  caller: Caller,
  publicOrigin: string,
): Denial {
  const reason: FailureReason =
    verdict.reason === 'cross_site' ||
    verdict.reason === 'not_allowed' ||
    verdict.reason === 'renewal_unavailable'
      ? verdict.reason
      : 'store_unavailable';
  const account =
    verdict.outcome === 'refused' && verdict.user !== undefined
      ? verdict.user.email || verdict.user.subject
      : undefined;
  const page = buildFailurePage(reason, {
    requestId: caller.requestId,
    ...(account === undefined ? {} : { account }),
    ...(reason === 'renewal_unavailable'
      ? { retryUrl: loginUrl(publicOrigin, caller.target) }
      : {}),
    ...(reason === 'not_allowed' ? { signOutUrl: publicOrigin + PATHS.logout } : {}),
  });
  const retry =
    verdict.outcome === 'undecided'
      ? [['retry-after', String(verdict.retryAfterSeconds)] as const]
      : [];
  return { outcome: 'denied', status, headers: [...page.headers, ...retry], body: page.body };
}

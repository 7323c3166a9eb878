/**
 * The door of a Connect service: an interceptor that knows who calls.
 *
 * @module
 */

import {
  Code,
  ConnectError,
  type ContextKey,
  createContextKey,
  type Interceptor,
} from '@connectrpc/connect';
import { formatRefusal, type Principal } from '@sallyport/protocol';
import type { Problem } from '../answer/problem.ts';
import { toProblem } from '../answer/shape-answer.ts';
import { selectRequestId } from '../log/request-id.ts';
import type { Identity, Refused, Undecided } from '../verdict/verdict.ts';
import type { DoorOptions } from './door-options.ts';
import { findGrants } from './unshared.ts';
import { formatHeaders } from './web-headers.ts';

const CODES: Readonly<Record<Problem['status'], Code>> = {
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  429: Code.ResourceExhausted,
  503: Code.Unavailable,
};

/** The verified caller, in the context of every call that gets past the door. */
export const principalKey: ContextKey<Principal | undefined> = createContextKey<
  Principal | undefined
>(undefined, { description: 'principal' });

/** The same with the user record and prepared headers. */
export const identityKey: ContextKey<Identity | undefined> = createContextKey<Identity | undefined>(
  undefined,
  { description: 'identity' },
);

/**
 * Creates the interceptor, for unary and streaming calls over Connect, gRPC and gRPC-Web; the router
 * spells a refusal for each.
 *
 * The caller is checked once, before a call begins. It is not checked again while a stream is open.
 *
 * @throws {ConnectError} In a call: `unauthenticated`, `permission_denied` for a known caller who may not
 *   enter, `unavailable` when it is undecided.
 */
export function createAuthInterceptor({ check, publicOrigin }: DoorOptions): Interceptor {
  return (next) => async (request) => {
    const verdict = await check({
      method: request.requestMethod,
      ...formatHeaders(request.header),
      transport: 'grpc',
    });
    if (verdict.outcome !== 'admitted')
      throw toConnectError(verdict, request.header.get('x-request-id'), publicOrigin);
    request.contextValues.set(identityKey, verdict.identity);
    request.contextValues.set(principalKey, verdict.identity.principal);
    const response = await next(request);
    if (verdict.setCookie !== undefined) {
      const { header } = response;
      const { names, cacheControl } = findGrants(header);
      for (const name of names) header.delete(name);
      header.set('cache-control', cacheControl);
      header.append('set-cookie', verdict.setCookie);
    }
    return response;
  };
}

function toConnectError(
  verdict: Refused | Undecided,
  requestId: string | null,
  publicOrigin: string,
): ConnectError {
  const problem = toProblem(verdict, selectRequestId(requestId ?? undefined), publicOrigin);
  const headers = new Headers({ 'x-accel-expires': '0', 'cache-control': 'no-store' });
  if (problem.status === 401) headers.set('www-authenticate', 'Bearer realm="sallyport"');
  if (problem.retryAfterSeconds !== undefined)
    headers.set('retry-after', String(problem.retryAfterSeconds));
  return new ConnectError(formatRefusal(problem), CODES[problem.status], headers);
}

/**
 * The door of a service on `@grpc/grpc-js`: a server interceptor that knows who calls.
 *
 * @module
 */

import {
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from '@grpc/grpc-js';
import { formatRefusal, type Principal } from '@sallyport/protocol';
import type { Problem } from '../answer/problem.ts';
import { toProblem } from '../answer/shape-answer.ts';
import { selectRequestId } from '../log/request-id.ts';
import type { Identity, Refused, Undecided, Verdict } from '../verdict/verdict.ts';
import type { DoorOptions } from './door-options.ts';
import { formatHeaders } from './web-headers.ts';

const CODES: Readonly<Record<Problem['status'], status>> = {
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  429: status.RESOURCE_EXHAUSTED,
  503: status.UNAVAILABLE,
};

type Status = Parameters<ServerInterceptingCall['sendStatus']>[0];

/** Held by the metadata a handler gets, so that nothing a caller sends can stand in for it. */
const identities = new WeakMap<Metadata, Identity>();

/** Binary metadata is no header the check reads. */
const BINARY_SUFFIX = '-bin';

/**
 * Creates the interceptor, for `new Server({ interceptors: [createServerInterceptor(…)] })`.
 *
 * UNAUTHENTICATED without a good credential, PERMISSION_DENIED for a known caller who may not enter,
 * UNAVAILABLE when it is undecided. The handler then never runs. A caller is checked once, when the
 * call begins.
 */
export function createServerInterceptor({ check, publicOrigin }: DoorOptions): ServerInterceptor {
  return (_, call) =>
    new ServerInterceptingCall(call, {
      start(next) {
        const listener = new ServerListenerBuilder().withOnReceiveMetadata((metadata, enter) => {
          const verdict = check({
            method: 'POST',
            ...formatHeaders(listTexts(metadata)),
            transport: 'grpc',
          });
          // A check neither throws nor rejects.
          if (verdict instanceof Promise) void verdict.then(decide);
          else decide(verdict);

          function decide(decided: Verdict): void {
            if (decided.outcome === 'admitted') {
              identities.set(metadata, decided.identity);
              enter(metadata);
            } else {
              call.sendStatus(toStatus(decided, metadata));
            }
          }
        });
        next(listener.build());
      },
    });

  function toStatus(verdict: Refused | Undecided, sent: Metadata): Status {
    const requestId = selectRequestId(String(sent.get('x-request-id')[0] ?? ''));
    const problem = toProblem(verdict, requestId, publicOrigin);
    const metadata = new Metadata();
    if (problem.retryAfterSeconds !== undefined)
      metadata.set('grpc-retry-pushback-ms', String(problem.retryAfterSeconds * 1_000));
    return { code: CODES[problem.status], details: formatRefusal(problem), metadata };
  }
}

/**
 * Who calls: `principalOf(call)` in a handler.
 *
 * @throws {TypeError} When the service has no interceptor: a programmer error, and never an anonymous caller.
 */
export function principalOf(call: { readonly metadata: Metadata }): Principal {
  return identityOf(call).principal;
}

/** The same with the user record. */
export function identityOf({ metadata }: { readonly metadata: Metadata }): Identity {
  const identity = identities.get(metadata);
  if (identity === undefined) throw new TypeError('this service is not behind the interceptor');
  return identity;
}

function listTexts(metadata: Metadata): (readonly [string, string])[] {
  return Object.keys(metadata.getMap())
    .filter((name) => !name.endsWith(BINARY_SUFFIX))
    .flatMap((name) => metadata.get(name).map((value) => [name, String(value)] as const));
}

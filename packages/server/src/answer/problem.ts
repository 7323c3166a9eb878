/**
 * Refusals as programs read them: `application/problem+json`, Connect errors and gRPC trailers.
 *
 * @module
 */

import {
  formatConnectError,
  formatProblemDocument,
  type HeaderPair,
  listGrpcStatus,
  PROBLEM_CONTENT_TYPE,
} from '@sallyport/protocol';

/** One refusal before it is spelt for a protocol. */
export interface Problem {
  readonly status: 401 | 403 | 429 | 503;
  readonly reason: string;
  readonly title: string;
  readonly requestId: string;
  /** Where a person would sign in; on 401 only. */
  readonly loginUrl: string;
  /** On 429 and 503. */
  readonly retryAfterSeconds: number | undefined;
  /** Whether a bearer was shown: RFC 6750 section 3.1 then wants the error named. */
  readonly bearerShown: boolean;
}

/** What is sent for a problem. */
export interface WireProblem {
  readonly status: 200 | 401 | 403 | 429 | 503;
  readonly headers: readonly HeaderPair[];
  readonly body: string;
}

/** Keeps every cache, nginx's own switch first, from serving one caller's answer to another. */
export const NO_STORE_HEADERS: readonly HeaderPair[] = [
  ['x-accel-expires', '0'],
  ['cache-control', 'no-store'],
];

/** Our documents are JSON and nothing else, whatever a browser finds in them. */
export const JSON_HEADERS: readonly HeaderPair[] = [
  ...NO_STORE_HEADERS,
  ['x-content-type-options', 'nosniff'],
];

const RPC_CODE = { 401: 16, 403: 7, 429: 8, 503: 14 } as const;

/** Writes a problem document. @see [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) */
export function toProblemJson(problem: Problem): WireProblem {
  const { status, loginUrl } = problem;
  return {
    status,
    headers: [
      ...JSON_HEADERS,
      ['content-type', PROBLEM_CONTENT_TYPE],
      ...challenge(problem),
      ...retryAfter(problem),
    ],
    body: formatProblemDocument({
      ...problem,
      loginUrl: status === 401 ? loginUrl : undefined,
    }),
  };
}

/**
 * Writes a Connect error. Existing SDKs take a 401 whose body is any other JSON for an outage, and
 * never sign in.
 *
 * @see [Connect protocol, error end-stream](https://connectrpc.com/docs/protocol/#error-codes)
 */
export function toConnectError(problem: Problem): WireProblem {
  return {
    status: problem.status,
    headers: [
      ...JSON_HEADERS,
      ['content-type', 'application/json'],
      ...challenge(problem),
      ...retryAfter(problem),
    ],
    body: formatConnectError(RPC_CODE[problem.status], problem),
  };
}

/**
 * Writes a trailers-only gRPC answer: HTTP 200 with the status in the headers. An HTTP 401 would
 * reach the caller as UNKNOWN, on which released clients open a browser.
 *
 * @param contentType - gRPC-Web has another one, and the same headers.
 *
 * @see [gRPC over HTTP/2, responses](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#responses)
 */
export function toGrpcStatus(
  problem: Problem,
  contentType: 'application/grpc' | 'application/grpc-web' = 'application/grpc',
): WireProblem {
  return {
    status: 200,
    headers: [
      ...NO_STORE_HEADERS,
      ['content-type', contentType],
      ...listGrpcStatus(RPC_CODE[problem.status], problem),
    ],
    body: '',
  };
}

function challenge({ status, bearerShown }: Problem): HeaderPair[] {
  if (status === 403 && bearerShown)
    return [['www-authenticate', 'Bearer realm="sallyport", error="insufficient_scope"']];
  if (status !== 401) return [];
  return [
    [
      'www-authenticate',
      bearerShown ? 'Bearer realm="sallyport", error="invalid_token"' : 'Bearer realm="sallyport"',
    ],
  ];
}

function retryAfter({ retryAfterSeconds }: Problem): HeaderPair[] {
  return retryAfterSeconds === undefined ? [] : [['retry-after', String(retryAfterSeconds)]];
}

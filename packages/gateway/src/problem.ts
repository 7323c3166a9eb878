/**
 * Answers the gateway gives by itself, when neither the verdict nor a backend has one.
 *
 * @module
 */

import {
  formatConnectError,
  formatProblemDocument,
  type HeaderPair,
  listGrpcStatus,
  PROBLEM_CONTENT_TYPE,
  type RpcCode,
} from '@sallyport/protocol';
import { classifyCaller } from '@sallyport/server/verdict';
import type { Exchange } from './exchange.ts';

/** Stable identifiers of the gateway's own answers: `reason` in the document, and in the log. */
export type ProblemReason =
  | 'request_target_malformed'
  | 'host_ambiguous'
  | 'request_malformed'
  | 'method_not_supported'
  | 'request_timeout'
  | 'grpc_needs_http2'
  | 'headers_overflow'
  | 'route_not_served'
  | 'internal_error'
  | 'upstream_unreachable'
  | 'upstream_busy'
  | 'upstream_timeout'
  | 'auth_disabled'
  | 'undecided';

/** One kind of such an answer. */
interface Kind {
  readonly status: number;
  readonly grpcStatus: RpcCode;
  readonly title: string;
  readonly headers?: readonly HeaderPair[];
}

/** By reason; `RPC_CODES` of protocol has the names of the gRPC codes. */
const KINDS: Readonly<Record<ProblemReason, Kind>> = {
  request_target_malformed: {
    status: 400,
    grpcStatus: 3,
    title: 'This request target is not accepted',
  },
  host_ambiguous: { status: 400, grpcStatus: 3, title: 'The request names more than one host' },
  request_malformed: { status: 400, grpcStatus: 3, title: 'This request cannot be forwarded' },
  method_not_supported: { status: 405, grpcStatus: 12, title: 'This method is not supported' },
  request_timeout: { status: 408, grpcStatus: 4, title: 'The request took too long to arrive' },
  grpc_needs_http2: { status: 415, grpcStatus: 3, title: 'gRPC needs HTTP/2' },
  headers_overflow: { status: 431, grpcStatus: 8, title: 'Too many header fields' },
  /** gRPC maps HTTP 404 to UNIMPLEMENTED, and this is the same answer in both. */
  route_not_served: { status: 404, grpcStatus: 12, title: 'No service answers this route here' },
  internal_error: { status: 500, grpcStatus: 13, title: 'The gateway failed on this request' },
  upstream_unreachable: { status: 502, grpcStatus: 14, title: 'The service cannot be reached' },
  upstream_busy: {
    status: 503,
    grpcStatus: 14,
    title: 'The service has too much to do',
    headers: [['retry-after', '1']],
  },
  /** Not UNAVAILABLE: clients repeat that, and the call may have been carried out. */
  upstream_timeout: { status: 504, grpcStatus: 4, title: 'The service did not answer in time' },
  auth_disabled: {
    status: 503,
    grpcStatus: 14,
    title: 'Authentication is switched off, so protected routes are closed',
  },
  undecided: {
    status: 503,
    grpcStatus: 14,
    title: 'Your access cannot be verified at the moment',
    headers: [['retry-after', '5']],
  },
};

/** What one such answer is about. */
export interface ProblemContext {
  readonly requestId: string;
  /** The session's slide, when the caller had been admitted. */
  readonly setCookie?: string | undefined;
}

/**
 * Sends a problem in the caller's protocol: gRPC and gRPC-Web without a body, the status in headers;
 * Connect as its error JSON; a problem document else. Nothing of the request is repeated in it.
 *
 * Does nothing when the client has gone; breaks off when the answer has already begun.
 *
 * @see [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) problem documents
 * @see [gRPC over HTTP/2, responses](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#responses)
 * @see [gRPC-Web](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md)
 * @see [Connect, errors](https://connectrpc.com/docs/protocol/#error-codes)
 */
export function sendProblem(
  exchange: Exchange,
  reason: ProblemReason,
  { requestId, setCookie }: ProblemContext,
): void {
  if (exchange.isClosed) return;
  if (exchange.isAnswered) {
    exchange.reset();
    return;
  }
  const { status, grpcStatus, title, headers = [] } = KINDS[reason];
  const common: HeaderPair[] = [['cache-control', 'no-store']];
  if (setCookie !== undefined) common.push(['set-cookie', setCookie]);
  const kind = classifyCaller(exchange);
  if (kind === 'grpc-web' || (kind === 'grpc' && exchange.version === 'http/2')) {
    const answer: HeaderPair[] = [
      ['content-type', `application/${kind}`],
      ...listGrpcStatus(grpcStatus, { title, reason }),
    ];
    exchange.send(200, [...common, ...answer], '');
  } else if (kind === 'connect') {
    exchange.send(
      status,
      [...common, ['content-type', 'application/json'], ...headers],
      formatConnectError(grpcStatus, { title, reason }),
    );
  } else {
    exchange.send(
      status,
      [...common, ['content-type', PROBLEM_CONTENT_TYPE], ...headers],
      formatProblemDocument({ title, status, reason, requestId }),
    );
  }
}

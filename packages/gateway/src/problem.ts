/**
 * Answers the gateway gives by itself, when neither the verdict nor a backend has one.
 *
 * @module
 */

import {
  formatConnectError,
  formatProblemDocument,
  type HeaderPair,
  html,
  listGrpcStatus,
  PROBLEM_CONTENT_TYPE,
  type RpcCode,
} from '@sallyport/protocol';
import { buildPage } from '@sallyport/server/page';
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
  /** What a person at a browser may do; nothing where the program behind the request has to be mended. */
  readonly todo?: string;
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
  request_timeout: {
    status: 408,
    grpcStatus: 4,
    title: 'The request took too long to arrive',
    todo: 'Load this page again.',
  },
  grpc_needs_http2: { status: 415, grpcStatus: 3, title: 'gRPC needs HTTP/2' },
  headers_overflow: { status: 431, grpcStatus: 8, title: 'Too many header fields' },
  /** gRPC maps HTTP 404 to UNIMPLEMENTED, and this is the same answer in both. */
  route_not_served: { status: 404, grpcStatus: 12, title: 'No service answers this route here' },
  internal_error: { status: 500, grpcStatus: 13, title: 'The gateway failed on this request' },
  upstream_unreachable: {
    status: 502,
    grpcStatus: 14,
    title: 'The service cannot be reached',
    todo: 'Start it, or wait until it runs, and load this page again.',
  },
  upstream_busy: {
    status: 503,
    grpcStatus: 14,
    title: 'The service has too much to do',
    todo: 'Load this page again in a moment.',
    headers: [['retry-after', '1']],
  },
  /** Not UNAVAILABLE: clients repeat that, and the call may have been carried out. */
  upstream_timeout: {
    status: 504,
    grpcStatus: 4,
    title: 'The service did not answer in time',
    todo: 'Load this page again. What you asked for may have been carried out.',
  },
  auth_disabled: {
    status: 503,
    grpcStatus: 14,
    title: 'Authentication is switched off, so protected routes are closed',
  },
  undecided: {
    status: 503,
    grpcStatus: 14,
    title: 'Your access cannot be verified at the moment',
    todo: 'Load this page again in a moment.',
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
 * Connect as its error JSON; a page to a browser that goes to an address; a problem document else. Nothing of the
 * request is repeated in it but its id.
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
  const { status, grpcStatus, title, todo, headers = [] } = KINDS[reason];
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
  } else if (kind === 'navigation') {
    const page = buildPage(
      title,
      html`${todo === undefined ? '' : html`<p>${todo}</p>\n`}<p class="dim">Reason <code>${reason}</code>, request <code>${requestId}</code></p>`,
    );
    const own = page.headers.filter(([name]) => name !== 'cache-control');
    exchange.send(status, [...common, ...own, ...headers], page.body);
  } else {
    exchange.send(
      status,
      [...common, ['content-type', PROBLEM_CONTENT_TYPE], ...headers],
      formatProblemDocument({ title, status, reason, requestId }),
    );
  }
}

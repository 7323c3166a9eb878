/**
 * A refusal in the words of each protocol: problem document, Connect error, gRPC status.
 *
 * Decides none of them, and no HTTP status or header beside: server, gateway and recipes do so for theirs.
 *
 * @module
 */

import type { HeaderPair } from './header-names.ts';

/** Content type of {@link formatProblemDocument}. */
export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/**
 * The gRPC status codes that refusals have, and Connect's names of them.
 *
 * @see [gRPC status codes](https://grpc.io/docs/guides/status-codes/)
 * @see [Connect, errors](https://connectrpc.com/docs/protocol/#error-codes)
 */
export const RPC_CODES = {
  3: 'invalid_argument',
  4: 'deadline_exceeded',
  7: 'permission_denied',
  8: 'resource_exhausted',
  12: 'unimplemented',
  13: 'internal',
  14: 'unavailable',
  16: 'unauthenticated',
} as const;
/** One of {@link RPC_CODES}. */
export type RpcCode = keyof typeof RPC_CODES;

/** What every protocol says of a refusal. */
export interface RefusalText {
  /** Stable identifier. */
  readonly reason: string;
  /** One sentence for people, without a period. */
  readonly title: string;
}

/** What a problem document says besides. */
export interface ProblemDocument extends RefusalText {
  readonly status: number;
  readonly requestId: string;
  /** Where a person would sign in; on 401 only. */
  readonly loginUrl?: string | undefined;
}

/** Formats a problem document, without a line feed. @see [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) */
export function formatProblemDocument(problem: ProblemDocument): string {
  const { status, reason, title, requestId, loginUrl } = problem;
  return JSON.stringify({
    type: `urn:sallyport:problem:${reason}`,
    title,
    status,
    reason,
    ...(loginUrl === undefined ? {} : { login_url: loginUrl }),
    request_id: requestId,
  });
}

/** Formats the body of a Connect error. */
export function formatConnectError(code: RpcCode, refusal: RefusalText): string {
  return JSON.stringify({ code: RPC_CODES[code], message: formatRefusal(refusal) });
}

/**
 * Lists the headers of a gRPC answer that has nothing but a status.
 *
 * @see [gRPC over HTTP/2, responses](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#responses)
 */
export function listGrpcStatus(code: RpcCode, refusal: RefusalText): readonly HeaderPair[] {
  return [
    ['grpc-status', String(code)],
    ['grpc-message', encodeURIComponent(formatRefusal(refusal))],
  ];
}

/** The message that a caller of an RPC reads. */
export function formatRefusal({ title, reason }: RefusalText): string {
  return `${title} (${reason})`;
}

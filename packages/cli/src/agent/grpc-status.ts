/**
 * gRPC calls as a door sees them: which request is one, and an answer of the agent's own.
 *
 * @module
 */

import type { Exchange } from '@sallyport/gateway/listeners';
import { formatRefusal, type HeaderPair, type RpcCode } from '@sallyport/protocol';

const GRPC_CONTENT_TYPE = /^application\/grpc(?:[+;]|$)/i;

/** Whether a request is a gRPC call. gRPC-Web, which browsers speak, is not. */
export function isGrpcCall({ version, headers }: Exchange): boolean {
  return version === 'http/2' && GRPC_CONTENT_TYPE.test(headers['content-type'] ?? '');
}

/** Answers a call with a status and nothing else. */
export function sendGrpcStatus(
  exchange: Exchange,
  code: RpcCode,
  reason: string,
  title: string,
): void {
  if (exchange.isClosed) return;
  const headers: readonly HeaderPair[] = [
    ['content-type', 'application/grpc'],
    ['grpc-status', String(code)],
    // Clients decode no more than this: `@grpc/grpc-js` shows `%3A` and its like as they are.
    ['grpc-message', encodeURI(formatRefusal({ reason, title }).toWellFormed())],
  ];
  exchange.send(200, headers, '');
}

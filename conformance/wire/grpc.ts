/**
 * gRPC calls over HTTP/2 without TLS, as they are on the wire.
 *
 * @module
 */

import {
  type ClientHttp2Session,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { readMessages, writeMessage } from './protobuf.ts';

/** What to call with. */
export interface GrpcSent {
  readonly headers?: OutgoingHttpHeaders;
  /** The protobuf message; empty by default. */
  readonly message?: Buffer;
}

/** What came back. */
export interface GrpcReceived {
  /** `grpc-status`; -1 when there was none. */
  readonly status: number;
  /** `grpc-message`, decoded. */
  readonly message: string;
  readonly httpStatus: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  /** Whether the answer was one block of headers and nothing else: status in front, no body. */
  readonly isTrailersOnly: boolean;
  readonly messages: readonly Buffer[];
}

const CALL_MS = 20_000;

/**
 * Makes one call on a connection of its own; rejects when the connection fails or nothing comes for 20 s.
 *
 * @param url - Origin and `/package.Service/Method`.
 */
export async function callGrpc(url: string, sent: GrpcSent = {}): Promise<GrpcReceived> {
  const session = openSession(url);
  try {
    return await callOn(session, new URL(url).pathname, sent);
  } finally {
    session.destroy();
  }
}

/** Opens a connection; its failures show in the call made on it. */
function openSession(url: string): ClientHttp2Session {
  const { port } = new URL(url);
  // `localhost` is listened for on IPv4 only; do not depend on the resolver's order.
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  return session;
}

function callOn(
  session: ClientHttp2Session,
  path: string,
  { headers = {}, message = Buffer.alloc(0) }: GrpcSent = {},
): Promise<GrpcReceived> {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  const { promise, resolve, reject } = Promise.withResolvers<GrpcReceived>();
  const chunks: Buffer[] = [];
  let received: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  let isTrailersOnly = false;
  stream.on('response', (answered, flags) => {
    received = answered;
    isTrailersOnly = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
  });
  stream.on('trailers', (answered) => {
    trailers = answered;
  });
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('error', reject);
  stream.on('close', () => {
    const ended = isTrailersOnly ? received : trailers;
    resolve({
      status: Number(ended['grpc-status'] ?? -1),
      message: decodeURIComponent(String(ended['grpc-message'] ?? '')),
      httpStatus: Number(received[':status'] ?? 0),
      headers: received,
      trailers,
      isTrailersOnly,
      messages: readMessages(Buffer.concat(chunks)),
    });
  });
  stream.setTimeout(CALL_MS, () => stream.destroy(new Error(`no answer to ${path}`)));
  stream.end(writeMessage(message));
  return promise;
}

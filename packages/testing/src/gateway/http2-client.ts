/**
 * A client over HTTP/2, plain calls and gRPC.
 *
 * @module
 */

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { onTestFinished } from 'vitest';
import { ADMITTED } from './running-gateway.ts';

/** One answer over HTTP/2. */
export interface Http2Answer {
  readonly headers: IncomingHttpHeaders | undefined;
  readonly trailers: IncomingHttpHeaders | undefined;
  readonly informational: readonly IncomingHttpHeaders[];
  readonly body: string;
  readonly rstCode: number;
}

/** Opens an HTTP/2 connection that ends with the test. */
export function dialHttp2(
  origin: string,
  options: { readonly ca?: string } = {},
): ClientHttp2Session {
  const session = connect(origin, options);
  session.on('error', () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Collects an answer until its stream is closed. */
export function collect(stream: ClientHttp2Stream): Promise<Http2Answer> {
  let headers: IncomingHttpHeaders | undefined;
  let trailers: IncomingHttpHeaders | undefined;
  const informational: IncomingHttpHeaders[] = [];
  const chunks: Buffer[] = [];
  stream.on('response', (received) => {
    headers = received;
  });
  stream.on('headers', (received) => informational.push(received));
  stream.on('trailers', (received) => {
    trailers = received;
  });
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('error', () => {});
  return new Promise((resolve) => {
    stream.once('close', () => {
      const body = Buffer.concat(chunks).toString();
      resolve({ headers, trailers, informational, body, rstCode: stream.rstCode });
    });
  });
}

/** Sends one request over HTTP/2. */
export function request2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<Http2Answer> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return collect(stream);
}

/** Headers of a gRPC call. */
export function grpcCall(path: string, extra: OutgoingHttpHeaders = {}): OutgoingHttpHeaders {
  return {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...ADMITTED,
    ...extra,
  };
}

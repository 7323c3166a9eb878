/**
 * Real clients of every RPC protocol.
 *
 * @module
 */

import { type DescMethod, fromBinary, type Message } from '@bufbuild/protobuf';
import type { Transport } from '@connectrpc/connect';
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';

/** Every way to make the same call, by name. */
export function transports(port: number): Readonly<Record<string, Transport>> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const http1 = { baseUrl, httpVersion: '1.1' } as const;
  const http2 = { baseUrl, httpVersion: '2' } as const;
  const gzip = { sendCompression: compressionGzip, compressMinBytes: 0 };
  return {
    'Connect over HTTP/1.1': createConnectTransport({ ...http1, useBinaryFormat: true }),
    'Connect over HTTP/2': createConnectTransport({ ...http2, useBinaryFormat: true }),
    'Connect in JSON': createConnectTransport({ ...http1, useBinaryFormat: false }),
    'Connect by GET': createConnectTransport({ ...http1, useHttpGet: true }),
    'Connect with a packed body': createConnectTransport({ ...http1, ...gzip }),
    gRPC: createGrpcTransport({ baseUrl }),
    'gRPC with a packed body': createGrpcTransport({ baseUrl, ...gzip }),
    'gRPC-Web over HTTP/1.1': createGrpcWebTransport(http1),
    'gRPC-Web over HTTP/2': createGrpcWebTransport(http2),
  };
}

/** What a call on `@grpc/grpc-js` gives. */
export interface GrpcJsAnswer {
  readonly response: Message | undefined;
  readonly error: ServiceError | undefined;
}

/** Calls a method with an empty message on `@grpc/grpc-js`, on a channel that ends with the test. */
export function callWithGrpcJs(
  port: number,
  method: DescMethod,
  headers: Readonly<Record<string, string>> = {},
): Promise<GrpcJsAnswer> {
  const path = `/${method.parent.typeName}/${method.name}`;
  return callPathWithGrpcJs(port, path, headers, (bytes) => fromBinary(method.output, bytes));
}

/** The same for a path alone. */
export function callPathWithGrpcJs(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  read: (bytes: Buffer) => Message | undefined = () => undefined,
): Promise<GrpcJsAnswer> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  onTestFinished(() => client.close());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.add(name, value);
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      path,
      () => Buffer.alloc(0),
      read,
      undefined,
      metadata,
      (error, response) => resolve({ response, error: error ?? undefined }),
    );
  });
}

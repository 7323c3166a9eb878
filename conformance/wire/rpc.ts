/**
 * Connect and gRPC-Web calls, as they are on the wire.
 *
 * @module
 */

import { gzipSync } from 'node:zlib';
import { exchange, type Received } from './exchange.ts';
import { writeMessage } from './protobuf.ts';

type Headers = Readonly<Record<string, string>>;

/** A unary Connect call in JSON. */
export function callConnect(
  url: string,
  headers: Headers = {},
  message: object = {},
): Promise<Received> {
  return exchange(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'connect-protocol-version': '1', ...headers },
    body: JSON.stringify(message),
  });
}

/**
 * The same as the platform's Python SDK sends it: binary, and packed although there is nothing in it,
 * 20 bytes of gzip for an empty message.
 */
export async function callConnectPacked(url: string, headers: Headers = {}): Promise<Response> {
  return fetch(onLoopback(url), {
    method: 'POST',
    headers: {
      'content-type': 'application/proto',
      'connect-protocol-version': '1',
      'content-encoding': 'gzip',
      'accept-encoding': 'gzip,identity',
      'user-agent': 'connectrpc/0.10.1',
      ...headers,
    },
    body: new Uint8Array(gzipSync(Buffer.alloc(0))),
  });
}

/** A unary Connect call by GET, for methods without side effects. */
export function callConnectByGet(url: string): Promise<Received> {
  return exchange(`${url}?connect=v1&encoding=json&message=${encodeURIComponent('{}')}`);
}

/** A unary gRPC-Web call; the answer's body is frames. */
export async function callGrpcWeb(url: string, headers: Headers = {}): Promise<Response> {
  return fetch(onLoopback(url), {
    method: 'POST',
    headers: { 'content-type': 'application/grpc-web+proto', 'x-grpc-web': '1', ...headers },
    body: new Uint8Array(writeMessage(Buffer.alloc(0))),
  });
}

/** `localhost` is listened for on IPv4 only; do not depend on the resolver's order. */
function onLoopback(url: string): string {
  return url.replace('//localhost:', '//127.0.0.1:');
}

/**
 * Backends of a test: HTTP/1.1, and HTTP/2 without TLS.
 *
 * @module
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import {
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Starts an HTTP/1.1 backend. */
export async function startBackend(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  return listenForTest(server);
}

const socketsByOrigin = new Map<string, ReadonlySet<Socket>>();

/** Ends a backend's connections as its death would. */
export function killConnections(origin: string, how: 'destroy' | 'resetAndDestroy'): void {
  for (const socket of socketsByOrigin.get(origin) ?? []) socket[how]();
}

/** Starts a server and closes it with the test. */
export async function listenForTest(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  socketsByOrigin.set(origin, sockets);
  return origin;
}

/** Starts an HTTP/2 backend without TLS. */
export async function startGrpcBackend(
  serve: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]) => void,
): Promise<string> {
  const server = createHttp2Server();
  server.on('session', (session) => {
    session.on('stream', (stream, headers, _flags, raw) => {
      stream.on('error', () => {});
      serve(stream, headers, raw);
    });
  });
  return listenForTest(server);
}

/** A backend that answers with what it was sent, as JSON; with nothing when its caller breaks off. */
export const echo: RequestListener = (request, response) => {
  void (async () => {
    const body = await readAll(request).catch(() => undefined);
    if (body === undefined) return;
    const { method, url: target, rawHeaders } = request;
    response.end(JSON.stringify({ method, target, rawHeaders, body }));
  })();
};

/** What {@link echo} answers. */
export interface Echo {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** Values of a header in a flat list. */
export function headerValues({ rawHeaders }: Echo, name: string): string[] {
  return rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name,
  );
}

/** Reads a request body. */
async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

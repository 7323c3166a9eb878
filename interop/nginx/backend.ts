/**
 * A backend that remembers what reached it.
 *
 * @module
 */

import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

/** One request as it arrived. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly httpVersion: string;
  readonly headers: IncomingHttpHeaders;
  /** Flat, in the order sent; shows a header sent twice. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** Answers a request. */
export type Answer = (seen: Seen, res: ServerResponse) => void;

/** A running backend. */
export interface Backend {
  readonly url: string;
  /** Every request so far, oldest first; WebSocket upgrades too. */
  readonly seen: Seen[];
  /** Answers the next requests. */
  answer: Answer;
  close(): Promise<void>;
}

/** Says which path arrived. */
export const echo: Answer = (seen, res) => {
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ arrived: seen.path, body: seen.body }));
};

/** Starts a backend on a free port. A WebSocket gets back what it sends. */
export async function startBackend(answer: Answer = echo): Promise<Backend> {
  const seen: Seen[] = [];
  const server = createServer((req, res) => void handle(req, res));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, req) => {
    seen.push(toSeen(req, ''));
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const backend: Backend = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    answer,
    close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return backend;

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const request = toSeen(req, Buffer.concat(chunks).toString());
    seen.push(request);
    backend.answer(request, res);
  }
}

/**
 * Answers as an admin service does: sign-in and the check by `sallyport serve`, the rest by itself.
 *
 * @param own - The other routes.
 */
export function createAdminService(serviceUrl: string, own: Answer = echo): Answer {
  return (seen, res) => {
    if (!/^\/(?:me|login|callback|logout|auth)(?:[/?]|$)/.test(seen.path)) return own(seen, res);
    const { port } = new URL(serviceUrl);
    const forwarded = httpRequest(
      { host: '127.0.0.1', port, method: seen.method, path: seen.path, headers: seen.rawHeaders },
      (answer) => {
        res.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
        answer.pipe(res);
      },
    );
    forwarded.on('error', () => res.destroy());
    forwarded.end(seen.body);
  };
}

function toSeen(req: IncomingMessage, body: string): Seen {
  const { method = '', url = '', httpVersion, headers, rawHeaders } = req;
  return { method, path: url, httpVersion, headers, rawHeaders, body };
}

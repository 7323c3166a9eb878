/**
 * Requests over one connection that stays open, so that one and the same process answers them all.
 *
 * @module
 */

import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** What came back. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** When all of it was there: milliseconds of `performance.now()`. */
  readonly at: number;
}

/** What to send beside the path. */
export interface KeptRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
}

/** The open connection. */
export interface KeptConnection {
  /** One request after the other. Rejects when the connection was not kept. */
  send(path: string, sent?: KeptRequest): Promise<KeptAnswer>;
  close(): void;
}

/** Opens a connection; resolves when a process has answered on it. */
export async function keepConnection(url: string): Promise<KeptConnection> {
  const { port, host } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let kept: Socket | undefined;

  function send(path: string, { method, headers, form }: KeptRequest = {}): Promise<KeptAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<KeptAnswer>();
    const body = form === undefined ? undefined : new URLSearchParams(form).toString();
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        agent,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          host,
          ...(body === undefined
            ? {}
            : {
                'content-type': 'application/x-www-form-urlencoded',
                'content-length': String(body.length),
              }),
          ...headers,
        },
      },
      (response) => resolve(read(response)),
    );
    sent.on('socket', (socket) => {
      kept ??= socket;
      if (socket !== kept) sent.destroy(new Error('the connection was not kept'));
    });
    sent.on('error', reject);
    sent.end(body);
    return promise;
  }

  await send('/healthz');
  return { send, close: () => agent.destroy() };
}

async function read(response: IncomingMessage): Promise<KeptAnswer> {
  const body = await text(response);
  const { statusCode: status = 0, headers } = response;
  return { status, headers, body, at: performance.now() };
}

/**
 * One handler behind one port that speaks HTTP/1.1 and HTTP/2 without TLS.
 *
 * @module
 */

import type { HttpHandler } from './connections.ts';
import { createHttp1Connections } from './http1-connections.ts';
import { createHttp2Connections } from './http2-connections.ts';
import type { ListenKeys } from './listen-failure.ts';
import { createOnePort } from './one-port.ts';
import { SERVICE_TIMEOUTS, type ServiceTimeouts } from './timeouts.ts';

export type { HttpHandler, HttpRequest, HttpResponse } from './connections.ts';

/** Where to listen, and how patiently. */
export interface ListenOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly host: string;
  /** Of a Unix socket, in place of host and port. */
  readonly path?: string | undefined;
  /** What the operator gives both by. */
  readonly keys?: ListenKeys;
  readonly timeouts?: Partial<ServiceTimeouts>;
}

/** A running listener. */
export interface HttpListener {
  /** 0 on a Unix socket. */
  readonly port: number;
  /**
   * Stops accepting, lets every connection have one more answer, and resolves when the last is closed or
   * time is up. A connection that rests is closed after a moment: at once would be in the way of a
   * request that its client has just sent.
   */
  close(): Promise<void>;
}

/**
 * Listens for plain HTTP behind an ingress: HTTP/1.1, and HTTP/2 for those who know that it is spoken
 * here, as gRPC clients and ingresses do (RFC 9113 section 3.3). A TLS handshake is closed at once.
 *
 * @throws {SallyportError} `SP_PORT_IN_USE` when the port is taken, `SP_LISTEN_FAILED` when it cannot be had.
 */
export async function listenOnOnePort(
  handle: HttpHandler,
  options: ListenOptions,
): Promise<HttpListener> {
  const timeouts = { ...SERVICE_TIMEOUTS, ...options.timeouts };
  const handler: HttpHandler = (req, res) => port.afterArrivals(() => handle(req, res));
  const http1 = createHttp1Connections({ handler, timeouts });
  const http2 = createHttp2Connections({ handler, timeouts });
  const port = createOnePort({
    firstBytesMs: timeouts.firstBytesMs,
    accept(socket, protocol) {
      if (protocol === 'http1') http1.accept(socket);
      else if (protocol === 'h2c') http2.accept(socket);
      else socket.destroy();
    },
  });
  try {
    if (options.path === undefined)
      return { port: await port.listen(options.port, options.host, options.keys), close };
    await port.listenAt(options.path);
    return { port: 0, close };
  } catch (cause) {
    http1.close();
    http2.close();
    throw cause;
  }

  async function close(): Promise<void> {
    port.stopListening(timeouts.drainRestMs);
    http1.drain(port.connections());
    http2.drain(port.connections());
    const timer = setTimeout(() => port.destroyAll(), timeouts.drainMs);
    await port.allClosed();
    clearTimeout(timer);
    http1.close();
    http2.close();
  }
}

/**
 * Serves HTTP/1.1 on connections that the port has sorted out.
 *
 * @module
 */

import type { Connections, ConnectionsOptions } from './connections.ts';
import { createHttp1Server } from './http1-server.ts';

/** An ingress passes on what its own buffers hold: four of 8 KiB by default. */
const HEADER_BYTES_MAX = 65_536;
/** How often Node looks for late requests, as a part of their limit. */
const CHECKS_PER_LIMIT = 4;

/**
 * Creates the HTTP/1.1 side. While it runs it keeps no list of requests: `/me` must not pay for the
 * stop.
 */
export function createHttp1Connections({ handler, timeouts }: ConnectionsOptions): Connections {
  const server = createHttp1Server(
    {
      keepAliveTimeout: timeouts.keepAliveMs,
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: Math.max(20, Math.ceil(timeouts.headersMs / CHECKS_PER_LIMIT)),
      maxHeaderSize: HEADER_BYTES_MAX,
    },
    { stallMs: timeouts.requestMs },
  );
  server.on('request', handler);
  // Without this event a server that is only fed sockets enforces no time-out.
  server.emit('listening');

  return {
    accept(socket) {
      server.emit('connection', socket);
    },
    drain(connections) {
      server.prependListener('request', (_req, res) => {
        res.shouldKeepAlive = false;
      });
      // Of a connection whose answer is under way.
      server.keepAliveTimeout = timeouts.drainRestMs;
      server.keepAliveTimeoutBuffer = 0;
      // Node limits the rest of a connection by the socket's own time-out, which the next request lifts.
      for (const socket of connections)
        if ((socket.timeout ?? 0) > 0) socket.setTimeout(timeouts.drainRestMs);
    },
    close() {
      server.close();
    },
  };
}

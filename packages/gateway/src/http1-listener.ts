/**
 * Serves HTTP/1.1 on connections that somebody else has accepted.
 *
 * @module
 */

import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Http1Exchange } from './http1-exchange.ts';
import type { Listener, ListenerOptions } from './listener.ts';

/** Room for a browser's cookies of the whole domain; the request line counts too. */
const HEADER_BYTES_MAX = 32 * 1024;
/** How often Node looks for late headers, as a part of their limit. */
const CHECKS_PER_LIMIT = 4;

/**
 * Creates the listener. Upgrades other than to WebSocket are ignored, as RFC 9110 section 7.8 allows;
 * a message with both Content-Length and Transfer-Encoding never gets past Node's strict parser.
 */
export function createHttp1Listener({ timeouts, routeRequest }: ListenerOptions): Listener {
  const openBySocket = new Map<Socket, number>();
  let isDraining = false;

  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: timeouts.headersMs,
    // Counted per request by the router, which knows the streaming routes.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.max(20, Math.ceil(timeouts.headersMs / CHECKS_PER_LIMIT)),
    keepAliveTimeout: timeouts.keepAliveMs,
    insecureHTTPParser: false,
    requireHostHeader: true,
    shouldUpgradeCallback: isWebSocket,
  });
  // Zero means all: Node would drop further fields silently, the router refuses them.
  server.maxHeadersCount = 0;
  server.on('request', (request, response) => serve(request, response, false));
  server.on('checkContinue', (request, response) => serve(request, response, true));
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    serveUpgrade(request, socket as Socket, head);
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    serveUpgrade(request, socket as Socket, undefined);
  });
  // Without this event a server that is only fed sockets enforces no headersTimeout.
  server.emit('listening');

  return {
    accept(socket) {
      openBySocket.set(socket, 0);
      socket.once('close', () => openBySocket.delete(socket));
      server.emit('connection', socket);
    },
    drain() {
      isDraining = true;
      for (const [socket, open] of openBySocket) if (open === 0) socket.destroy();
    },
    close() {
      server.close();
    },
  };

  function serve(
    request: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
  ): void {
    const { socket } = request;
    count(socket, 1);
    if (isDraining) response.shouldKeepAlive = false;
    response.once('close', () => {
      count(socket, -1);
      if (isDraining && openBySocket.get(socket) === 0) socket.destroySoon();
    });
    const { lingerMs } = timeouts;
    const upgrade = undefined;
    void routeRequest(
      new Http1Exchange({ request, response, socket, expectsContinue, upgrade, lingerMs }),
    );
  }

  /** A refusal goes out as an ordinary response, and then the connection ends. */
  function serveUpgrade(request: IncomingMessage, socket: Socket, head: Buffer | undefined): void {
    count(socket, 1);
    socket.setTimeout(0);
    socket.on('error', ignore);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => {
      response.detachSocket(socket);
      socket.destroySoon();
    });
    const upgrade = head === undefined ? undefined : { socket, head };
    const { lingerMs } = timeouts;
    void routeRequest(
      new Http1Exchange({ request, response, socket, expectsContinue: false, upgrade, lingerMs }),
    );
  }

  function count(socket: Socket, by: number): void {
    const open = openBySocket.get(socket);
    if (open !== undefined) openBySocket.set(socket, open + by);
  }
}

function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

/** A reset shows in `close`. */
function ignore(): void {}

/**
 * Serves HTTP/1.1 on connections that the listener has accepted.
 *
 * @module
 */

import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createHttp1Server } from '@sallyport/server/listener';
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
  const openBySocket = new Map<Socket, Set<ServerResponse>>();
  let isDraining = false;

  const server = createHttp1Server(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: timeouts.headersMs,
      // Counted per request by the router, which knows the streaming routes.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.max(20, Math.ceil(timeouts.headersMs / CHECKS_PER_LIMIT)),
      keepAliveTimeout: timeouts.keepAliveMs,
      insecureHTTPParser: false,
      requireHostHeader: true,
      shouldUpgradeCallback: isWebSocket,
    },
    { stallMs: timeouts.clientStallMs },
  );
  // Zero means all: Node would drop further fields silently, the router refuses them.
  server.maxHeadersCount = 0;
  server.on('request', (request, response) => serve(request, response, false));
  server.on('checkContinue', (request, response) => serve(request, response, true));
  server.on('upgrade', serveUpgrade);
  server.on('connect', (request, stream) => serveUpgrade(request, stream, undefined));
  // Without this event a server that is only fed sockets enforces no headersTimeout.
  server.emit('listening');

  return {
    accept(socket) {
      openBySocket.set(socket, new Set());
      socket.once('close', () => openBySocket.delete(socket));
      server.emit('connection', socket);
    },
    drain() {
      isDraining = true;
      for (const [socket, open] of openBySocket) if (open.size === 0) socket.destroy();
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
    const open = openBySocket.get(socket);
    open?.add(response);
    if (isDraining) response.shouldKeepAlive = false;
    response.once('close', () => {
      open?.delete(response);
      if (isDraining && open?.size === 0) socket.destroySoon();
    });
    const { lingerMs } = timeouts;
    const upgrade = undefined;
    routeRequest(
      new Http1Exchange({ request, response, socket, expectsContinue, upgrade, lingerMs }),
    );
  }

  /**
   * A refusal goes out as an ordinary response, and then the connection ends. Sent behind a request that
   * is not answered yet, an upgrade ends the connection at once: Node has let go of it already, and the
   * answer under way still owns it (RFC 9112 section 9.3.2 has no place for such a client either).
   *
   * @param stream - The connection; while a body of the request is still on its way, Node gives a stand-in
   *   that is no socket. Such a request is refused, on the connection itself.
   */
  function serveUpgrade(request: IncomingMessage, stream: Duplex, head: Buffer | undefined): void {
    const { socket } = request;
    socket.on('error', ignore);
    stream.on('error', ignore);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    try {
      response.assignSocket(socket);
    } catch {
      for (const earlier of openBySocket.get(socket) ?? []) earlier.destroy();
      socket.destroy();
      return;
    }
    socket.setTimeout(0);
    openBySocket.get(socket)?.add(response);
    response.once('finish', () => {
      response.detachSocket(socket);
      socket.destroySoon();
    });
    const upgrade = head === undefined ? undefined : { socket: stream, head };
    const { lingerMs } = timeouts;
    routeRequest(
      new Http1Exchange({ request, response, socket, expectsContinue: false, upgrade, lingerMs }),
    );
  }
}

function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

/** A reset shows in `close`. */
function ignore(): void {}

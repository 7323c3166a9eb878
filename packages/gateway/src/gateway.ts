/**
 * The embedded ingress: one port, the verdict in process.
 *
 * @module
 */

import type { Socket } from 'node:net';
import { ROUTE_GROUPS, type RouteGroup } from '@sallyport/protocol';
import { createOnePort, type WireProtocol } from '@sallyport/server/listener';
import type { BackendHeaderPolicy } from '@sallyport/server/verdict';
import type { AskAnswer } from './admission.ts';
import { createGrpcForwarder } from './forward-grpc.ts';
import { createHttpForwarder } from './forward-http.ts';
import { createHttp1Listener } from './http1-listener.ts';
import { createHttp2Listener } from './http2-listener.ts';
import type { Log } from './log.ts';
import { createRequestRouter, type UpstreamFor } from './route-request.ts';
import { DEFAULT_TIMEOUTS, type GatewayTimeouts } from './timeouts.ts';
import { createTlsFront, type TlsOptions } from './tls-front.ts';

/** What a gateway is made from. */
export interface GatewayOptions {
  /** The origin users see, `https://flows.example.org`. Backends get this origin, whatever a request names. */
  readonly publicOrigin: string;
  /** Defaults to {@link ROUTE_GROUPS}. */
  readonly routes?: readonly RouteGroup[];
  /**
   * Origin of a group's backend: HTTP/1.1 for `http` requests, Connect and gRPC-Web calls to a `grpc`
   * group included, and HTTP/2 without TLS for `grpc` calls. `undefined`: this installation does not
   * run it.
   */
  readonly upstreamFor: UpstreamFor;
  /**
   * The verdict, shaped for the caller. `undefined` when `useAuth` is false: protected routes are then
   * answered 503 and never forwarded.
   */
  readonly answer: AskAnswer | undefined;
  readonly backendHeaders: BackendHeaderPolicy;
  /** When given, the port also speaks TLS, with ALPN `h2` and `http/1.1`. */
  readonly tls?: TlsOptions;
  readonly timeouts?: Partial<GatewayTimeouts>;
  readonly log: Log;
}

/** A gateway. */
export interface Gateway {
  /**
   * Starts listening. Port 0 takes a free one.
   *
   * @throws {SallyportError} `SP_PORT_IN_USE`, `SP_LISTEN_FAILED`.
   */
  listen(port: number, host: string): Promise<{ readonly port: number }>;
  /** Stops listening, closes idle connections at once, waits a bounded time for the others, then closes all. */
  drain(): Promise<void>;
  /** Closes everything now. */
  close(): Promise<void>;
}

/**
 * Creates a gateway.
 *
 * It never decides who may enter: it asks `answer`, and on any doubt refuses.
 *
 * @throws {TypeError} When the public origin or the route table is malformed.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { routes = ROUTE_GROUPS, upstreamFor, answer, backendHeaders, log } = options;
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const publicOrigin = new URL(options.publicOrigin);
  const http = createHttpForwarder({ publicOrigin, timeouts, log });
  const grpc = createGrpcForwarder({ publicOrigin, timeouts, log });
  const route = createRequestRouter({
    publicOrigin,
    routes,
    upstreamFor,
    answer,
    backendHeaders,
    timeouts,
    forwardHttp: http.forward,
    forwardGrpc: grpc.forward,
    log,
  });
  const routeRequest: typeof route = (exchange) => port.afterArrivals(() => route(exchange));
  const http1 = createHttp1Listener({ timeouts, routeRequest });
  const http2 = createHttp2Listener({ timeouts, routeRequest });
  const tls =
    options.tls === undefined
      ? undefined
      : createTlsFront({
          ...options.tls,
          handshakeMs: timeouts.headersMs,
          accept(socket, protocol, connection) {
            port.secured(connection, socket);
            (protocol === 'h2' ? http2 : http1).accept(socket);
          },
        });
  const port = createOnePort({ firstBytesMs: timeouts.firstBytesMs, accept: sort });

  return {
    async listen(number, host) {
      return { port: await port.listen(number, host) };
    },
    async drain() {
      port.stopListening();
      tls?.drain();
      http1.drain();
      http2.drain();
      const timer = setTimeout(() => port.destroyAll(), timeouts.drainMs);
      await port.allClosed();
      clearTimeout(timer);
      await close();
    },
    close,
  };

  function sort(socket: Socket, protocol: WireProtocol): void {
    if (protocol === 'http1') http1.accept(socket);
    else if (protocol === 'h2c') http2.accept(socket);
    else if (tls === undefined) socket.destroy();
    else tls.accept(socket);
  }

  async function close(): Promise<void> {
    port.stopListening();
    port.destroyAll();
    http1.close();
    http2.close();
    grpc.destroy();
    await http.destroy();
    await port.allClosed();
  }
}

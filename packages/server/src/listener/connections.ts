/**
 * What the service asks of an HTTP version.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import type { ServiceTimeouts } from './timeouts.ts';

/** A request of either HTTP version; Node gives both the members that handlers use. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
/** The answer to an {@link HttpRequest}. */
export type HttpResponse = ServerResponse | Http2ServerResponse;
/** Serves requests of both versions. */
export type HttpHandler = (req: HttpRequest, res: HttpResponse) => void;

/** What both sides are made from. */
export interface ConnectionsOptions {
  readonly handler: HttpHandler;
  readonly timeouts: ServiceTimeouts;
}

/** Serves one HTTP version on connections handed to it. */
export interface Connections {
  /** Takes over a connection. */
  accept(this: void, socket: Socket): void;
  /**
   * Closes each connection after its next answer, or once it has rested for a while.
   *
   * @param connections - All there are, of whichever version.
   */
  drain(this: void, connections: Iterable<Socket>): void;
  /** Stops timers. Does not close connections: the port that accepted them does. */
  close(this: void): void;
}

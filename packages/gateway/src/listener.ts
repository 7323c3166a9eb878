/**
 * What the gateway asks of an HTTP version.
 *
 * @module
 */

import type { Socket } from 'node:net';
import type { RouteRequest } from './route-request.ts';
import type { GatewayTimeouts } from './timeouts.ts';

/** What a listener is made from. */
export interface ListenerOptions {
  readonly timeouts: GatewayTimeouts;
  readonly routeRequest: RouteRequest;
}

/** Serves one HTTP version on connections handed to it. */
export interface Listener {
  /** Takes over a connection, TLS already removed. */
  accept(socket: Socket): void;
  /** Closes idle connections now, and the others after their last answer. */
  drain(): void;
  /** Stops timers. Does not close connections: the listener that accepted them does. */
  close(): void;
}

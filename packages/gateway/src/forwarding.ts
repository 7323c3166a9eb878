/**
 * What a forwarder is handed once a request may pass.
 *
 * @module
 */

import type { HeaderPair, RouteGroup } from '@sallyport/protocol';
import type { Exchange } from './exchange.ts';

/** One request to pass on. */
export interface Forwarding {
  readonly exchange: Exchange;
  /** Origin of the backend. */
  readonly origin: string;
  /** Path and query, byte for byte as the client sent them. */
  readonly target: string;
  readonly group: RouteGroup;
  /** Complete but for `host`. */
  readonly headers: readonly HeaderPair[];
  readonly requestId: string;
  /** Appended to the backend's response headers. */
  readonly setCookie: string | undefined;
  /** Hears that the backend of a gRPC call refused its credential: UNAUTHENTICATED, or 401. */
  readonly onUnauthenticated?: () => void;
}

/**
 * How long the gateway waits for whom.
 *
 * @module
 */

/** All in milliseconds. */
export interface GatewayTimeouts {
  /** Until a new connection has sent enough to detect its protocol. */
  readonly firstBytesMs: number;
  /** For a TLS handshake, an HTTP/1.1 header section, or the first HTTP/2 SETTINGS frame, as a whole. */
  readonly headersMs: number;
  /** For a whole request body; not on streaming routes. */
  readonly requestMs: number;
  /** Between two pieces of a request body that the backend is ready to take; not on streaming routes. */
  readonly clientBodyMs: number;
  /** A connection without a request. */
  readonly keepAliveMs: number;
  /** For the rest of a request body whose answer is already complete. */
  readonly lingerMs: number;
  /** A client that takes nothing of what is there of an answer; over HTTP/2 no longer than `keepAliveMs`. */
  readonly clientStallMs: number;
  /** Until a backend accepts a connection. */
  readonly upstreamConnectMs: number;
  /** Until a backend begins its answer; not on streaming routes. */
  readonly upstreamHeadersMs: number;
  /** Between two pieces of a backend's answer; not on streaming routes. */
  readonly upstreamIdleMs: number;
  /** How long a drain waits for requests under way. */
  readonly drainMs: number;
}

/** What applies where the caller gives nothing. */
export const DEFAULT_TIMEOUTS: GatewayTimeouts = {
  firstBytesMs: 10_000,
  headersMs: 15_000,
  requestMs: 300_000,
  clientBodyMs: 15_000,
  keepAliveMs: 65_000,
  lingerMs: 5_000,
  clientStallMs: 60_000,
  upstreamConnectMs: 5_000,
  upstreamHeadersMs: 60_000,
  upstreamIdleMs: 300_000,
  drainMs: 10_000,
};

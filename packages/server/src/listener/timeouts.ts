/**
 * How long the service waits for whom.
 *
 * @module
 */

/** All in milliseconds. */
export interface ServiceTimeouts {
  /** Until a new connection has sent enough to detect its protocol. */
  readonly firstBytesMs: number;
  /** For an HTTP/1.1 header section, or the first HTTP/2 SETTINGS frame, as a whole. */
  readonly headersMs: number;
  /** For a whole request, and again for a finished answer to be taken. */
  readonly requestMs: number;
  /** A connection without a request. */
  readonly keepAliveMs: number;
  /** How long a stop waits for requests under way. */
  readonly drainMs: number;
  /** For a connection without a request during a stop; its client may be sending one just now. */
  readonly drainRestMs: number;
}

/** What applies where the caller gives nothing. */
export const SERVICE_TIMEOUTS: ServiceTimeouts = {
  firstBytesMs: 10_000,
  headersMs: 20_000,
  requestMs: 30_000,
  // Longer than nginx keeps an idle upstream connection, so that we are never the one to close first.
  keepAliveMs: 75_000,
  drainMs: 10_000,
  // Who sends that seldom on a connection loses a request to it once in a very long while.
  drainRestMs: 2_000,
};

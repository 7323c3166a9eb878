/**
 * Forwards gRPC calls: one HTTP/2 stream to another, with everything gRPC puts on it.
 *
 * @module
 */

import { type ClientHttp2Stream, constants, type ServerHttp2Stream } from 'node:http2';
import type { ConnectionOptions } from 'node:tls';
import { type HeaderPair, selectEndToEndHeaders } from '@sallyport/protocol';
import type { Exchange } from './exchange.ts';
import type { Forwarding } from './forwarding.ts';
import { createGrpcSessions } from './grpc-sessions.ts';
import type { Log } from './log.ts';
import { type ProblemReason, sendProblem } from './problem.ts';
import { resetStream } from './reset-stream.ts';
import { selectClientHeaders } from './response-headers.ts';
import type { GatewayTimeouts } from './timeouts.ts';

/** The gRPC status code, as it stands in a header. */
const UNAUTHENTICATED = '16';

/** Passes a call on. */
export type ForwardGrpc = (forwarding: Forwarding) => void;

/** What {@link createGrpcForwarder} needs. */
export interface GrpcForwarderOptions {
  readonly publicOrigin: URL;
  readonly timeouts: GatewayTimeouts;
  readonly log: Log;
  /** For backends that are reached over TLS; the system's trust when absent. */
  readonly tls?: ConnectionOptions;
}

/** The forwarder and its connections. */
export interface GrpcForwarder {
  readonly forward: ForwardGrpc;
  /** Breaks off whatever is under way. */
  destroy(): void;
}

/**
 * Creates the forwarder.
 *
 * Initial metadata, messages with their flow control, trailers and reset codes pass in both
 * directions; `grpc-timeout` is left to the backend. A backend that cannot be reached is UNAVAILABLE,
 * one that breaks off resets the caller's stream.
 *
 * @see [gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md)
 */
export function createGrpcForwarder(options: GrpcForwarderOptions): GrpcForwarder {
  const { publicOrigin, timeouts, log } = options;
  const sessions = createGrpcSessions(timeouts.upstreamConnectMs, options.tls);

  return {
    forward(forwarding) {
      const { exchange, origin, target, headers } = forwarding;
      const { stream } = exchange;
      if (stream === undefined) throw new TypeError('gRPC is forwarded over HTTP/2 only');
      let upstream: ClientHttp2Stream;
      try {
        upstream = sessions.open(origin, [
          ':method',
          'POST',
          ':scheme',
          new URL(origin).protocol.slice(0, -1),
          ':authority',
          publicOrigin.host,
          ':path',
          target,
          'te',
          'trailers',
          ...headers.flat(),
        ]);
      } catch {
        fail(forwarding, 'request_malformed');
        return;
      }
      carryRequest(exchange, stream, upstream);
      carryResponse(forwarding, stream, upstream);
    },
    destroy() {
      sessions.destroy();
    },
  };

  function carryResponse(
    forwarding: Forwarding,
    client: ServerHttp2Stream,
    upstream: ClientHttp2Stream,
  ): void {
    const { group, setCookie } = forwarding;
    const { session } = upstream;
    let trailers: readonly HeaderPair[] = [];
    const timer = group.streaming
      ? undefined
      : setTimeout(() => fail(forwarding, 'upstream_timeout'), timeouts.upstreamHeadersMs);

    upstream.once('response', (_headers, flags, rawHeaders) => {
      clearTimeout(timer);
      if (client.destroyed || client.closed || client.headersSent) return;
      const isTrailersOnly = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      const status = statusOf(rawHeaders);
      if (status === '401' || isUnauthenticated(rawHeaders)) forwarding.onUnauthenticated?.();
      client.respond(
        [':status', status, ...selectClientHeaders(rawHeaders, setCookie).flat()],
        isTrailersOnly ? { endStream: true } : { waitForTrailers: true },
      );
      if (isTrailersOnly) return;
      client.once('wantTrailers', () => client.sendTrailers(groupValues(trailers)));
      upstream.pipe(client, { end: false });
      // A stream that breaks off ends too, and that must not end the answer.
      upstream.once('end', () => {
        if (upstream.rstCode === constants.NGHTTP2_NO_ERROR) client.end();
      });
    });
    upstream.once('trailers', (_headers, _flags, rawHeaders) => {
      trailers = selectEndToEndHeaders(rawHeaders);
      if (isUnauthenticated(rawHeaders)) forwarding.onUnauthenticated?.();
    });
    upstream.on('error', ignore);
    upstream.once('close', () => {
      clearTimeout(timer);
      if (client.destroyed || client.closed) return;
      if (client.writableEnded) {
        // The answer is whole; what is left of the request goes nowhere.
        if (upstream.rstCode === constants.NGHTTP2_NO_ERROR) client.resume();
        else client.close(upstream.rstCode);
        return;
      }
      // The session's own end is an outage; a stream's end is the backend's word, and is passed on.
      const isOutage = session === undefined || session.destroyed;
      if (isOutage || upstream.rstCode === constants.NGHTTP2_NO_ERROR)
        fail(forwarding, 'upstream_unreachable');
      else resetStream(client, upstream.rstCode);
    });
  }

  function fail(
    { exchange, group, requestId, setCookie }: Forwarding,
    reason: ProblemReason,
  ): void {
    if (exchange.isClosed) return;
    log('gateway.upstream_failed', { request_id: requestId, backend: group.backend, reason });
    sendProblem(exchange, reason, { requestId, setCookie });
  }
}

function carryRequest(
  exchange: Exchange,
  client: ServerHttp2Stream,
  upstream: ClientHttp2Stream,
): void {
  client.pipe(upstream, { end: false });
  client.once('end', () => {
    if (exchange.isBodyWhole) upstream.end();
  });
  client.once('close', () => {
    resetStream(upstream, client.rstCode === 0 ? constants.NGHTTP2_CANCEL : client.rstCode);
  });
}

function statusOf(rawHeaders: readonly string[]): string {
  const index = rawHeaders.indexOf(':status');
  return rawHeaders[index + 1] ?? '502';
}

function isUnauthenticated(rawHeaders: readonly string[]): boolean {
  const index = rawHeaders.indexOf('grpc-status');
  return index !== -1 && rawHeaders[index + 1] === UNAUTHENTICATED;
}

/** Trailers as Node takes them: one entry for each name. */
function groupValues(pairs: readonly HeaderPair[]): Record<string, string[]> {
  const grouped: Record<string, string[]> = Object.create(null);
  for (const [name, value] of pairs) grouped[name] = [...(grouped[name] ?? []), value];
  return grouped;
}

/** A failed stream shows in `close`. */
function ignore(): void {}

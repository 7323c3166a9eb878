/**
 * How long an HTTP/2 session may live without a stream, and a stream without progress.
 *
 * @module
 */

import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { limitStall } from './stalled-stream.ts';

/** All in milliseconds. */
export interface RestTimes {
  /** Until the client's SETTINGS. */
  readonly settingsMs: number;
  /** Without a stream. */
  readonly keepAliveMs: number;
  /** For a client that was told the session is over to end its own side. */
  readonly lingerMs: number;
  /** For a client to take what waits for it on a stream. No longer than `keepAliveMs`. */
  readonly stallMs: number;
}

/**
 * Ends a session that rests for too long: HTTP/2 has no header time-out of Node's, so a session earns
 * its time with SETTINGS, then with streams, and a stream by taking what it asked for.
 *
 * Does nothing about a request that is slow.
 */
export function limitRest(
  session: ServerHttp2Session,
  socket: Socket,
  { settingsMs, keepAliveMs, lingerMs, stallMs }: RestTimes,
): void {
  const stallTimes = { stallMs: Math.min(stallMs, keepAliveMs), lingerMs };
  let open = 0;
  let timer = setTimeout(() => session.destroy(), settingsMs);
  session.once('remoteSettings', restAgain);
  // Before anything is written to it.
  session.prependListener('stream', (stream: ServerHttp2Stream) => {
    limitStall(stream, socket, stallTimes);
    open += 1;
    clearTimeout(timer);
    stream.once('close', () => {
      open -= 1;
      if (open === 0) restAgain();
    });
  });
  session.once('close', () => clearTimeout(timer));

  function restAgain(): void {
    clearTimeout(timer);
    if (session.destroyed || open > 0) return;
    timer = setTimeout(() => {
      session.close();
      // The session is over with its last stream, but a client that never ends its own side would
      // keep the socket.
      timer = setTimeout(() => socket.destroy(), lingerMs);
    }, keepAliveMs);
  }
}

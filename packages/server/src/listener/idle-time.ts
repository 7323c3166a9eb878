/**
 * Limits how long an HTTP/2 session may live without a stream, and a stream without progress.
 *
 * @module
 */

import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { limitStall } from './stalled-stream.ts';

/** All in milliseconds. */
export interface IdleTimes {
  /** Until the client's SETTINGS. */
  readonly settingsMs: number;
  /** Without a stream. */
  readonly keepAliveMs: number;
  /** For a client to end its own side after GOAWAY. */
  readonly lingerMs: number;
  /** For a client to take what waits for it on a stream. No longer than `keepAliveMs`. */
  readonly stallMs: number;
}

/**
 * Ends a session that is idle for too long. Node has no header time-out for HTTP/2, so the time counts from the
 * connection to the client's SETTINGS, and then from the end of the last stream. A stream ends when its client does
 * not take what it asked for.
 *
 * Does not limit a slow request.
 */
export function limitIdleTime(
  session: ServerHttp2Session,
  socket: Socket,
  { settingsMs, keepAliveMs, lingerMs, stallMs }: IdleTimes,
): void {
  const stallTimes = { stallMs: Math.min(stallMs, keepAliveMs), lingerMs };
  let open = 0;
  let timer = setTimeout(() => session.destroy(), settingsMs);
  session.once('remoteSettings', startTimer);
  // Before anything is written to it.
  session.prependListener('stream', (stream: ServerHttp2Stream) => {
    limitStall(stream, socket, stallTimes);
    open += 1;
    clearTimeout(timer);
    stream.once('close', () => {
      open -= 1;
      if (open === 0) startTimer();
    });
  });
  session.once('close', () => clearTimeout(timer));

  function startTimer(): void {
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

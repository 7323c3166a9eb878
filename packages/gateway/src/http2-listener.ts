/**
 * Serves HTTP/2 on connections that the listener has accepted.
 *
 * @module
 */

import { createServer, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { limitIdleTime } from '@sallyport/server/listener';
import { spellAddress } from './exchange.ts';
import { Http2Exchange } from './http2-exchange.ts';
import type { Listener, ListenerOptions } from './listener.ts';

const HEADER_BYTES_MAX = 32 * 1024;
const HEADER_PAIRS_MAX = 256;
const CONCURRENT_STREAMS_MAX = 200;
const SESSION_MEMORY_MEGABYTES = 32;

/**
 * Creates the listener.
 *
 * Extended CONNECT and server push stay off. Node itself ends sessions that flood resets
 * (CVE-2023-44487), continuations (CVE-2024-27983) or invalid frames.
 */
export function createHttp2Listener({ timeouts, routeRequest }: ListenerOptions): Listener {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({
    maxHeaderListPairs: HEADER_PAIRS_MAX,
    maxSessionMemory: SESSION_MEMORY_MEGABYTES,
    // A backend's repeated header is passed on as it is.
    strictSingleValueFields: false,
    settings: {
      enablePush: false,
      enableConnectProtocol: false,
      maxConcurrentStreams: CONCURRENT_STREAMS_MAX,
      maxHeaderListSize: HEADER_BYTES_MAX,
    },
  });
  server.on('sessionError', ignore);

  return {
    accept(socket) {
      // An HTTP/2 connection is over when its client has ended it.
      socket.allowHalfOpen = false;
      // Node makes the session within the call below.
      server.once('session', (session) => watch(session, socket));
      server.emit('connection', socket);
    },
    drain() {
      for (const session of sessions) session.close();
    },
    close() {
      server.close();
    },
  };

  function watch(session: ServerHttp2Session, socket: Socket): void {
    const { headersMs, keepAliveMs, lingerMs, clientStallMs: stallMs } = timeouts;
    const peerAddress = spellAddress(socket.remoteAddress);
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    limitIdleTime(session, socket, { settingsMs: headersMs, keepAliveMs, lingerMs, stallMs });
    session.on('stream', (stream, headers, _flags, rawHeaders) => {
      routeRequest(new Http2Exchange(stream, headers, rawHeaders, peerAddress, lingerMs));
    });
  }
}

/** The session's end shows in `close`. */
function ignore(): void {}

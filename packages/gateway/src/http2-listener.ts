/**
 * Serves HTTP/2 on connections that somebody else has accepted.
 *
 * @module
 */

import { createServer, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
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
    sessions.add(session);
    const peerAddress = spellAddress(socket.remoteAddress);
    let open = 0;
    // HTTP/2 has no header time-out of Node's: a session earns its time with SETTINGS, then with streams.
    let timer = setTimeout(() => session.destroy(), timeouts.headersMs);
    session.once('remoteSettings', restAgain);
    session.on('stream', (stream, headers, _flags, rawHeaders) => {
      open += 1;
      clearTimeout(timer);
      stream.once('close', () => {
        open -= 1;
        if (open === 0) restAgain();
      });
      const { lingerMs } = timeouts;
      void routeRequest(new Http2Exchange(stream, headers, rawHeaders, peerAddress, lingerMs));
    });
    session.once('close', () => {
      clearTimeout(timer);
      sessions.delete(session);
    });

    function restAgain(): void {
      clearTimeout(timer);
      if (session.destroyed || open > 0) return;
      timer = setTimeout(() => {
        session.close();
        // The session is over with its last stream, but a client that never ends its own side would
        // keep the socket.
        timer = setTimeout(() => socket.destroy(), timeouts.lingerMs);
      }, timeouts.keepAliveMs);
    }
  }
}

/** The session's end shows in `close`. */
function ignore(): void {}

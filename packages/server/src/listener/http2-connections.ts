/**
 * Serves HTTP/2 without TLS on connections that the port has sorted out.
 *
 * @module
 */

import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Connections, ConnectionsOptions } from './connections.ts';
import { limitIdleTime } from './idle-time.ts';

const HEADER_BYTES_MAX = 65_536;
const HEADER_PAIRS_MAX = 256;
const CONCURRENT_STREAMS_MAX = 200;
const SESSION_MEMORY_MEGABYTES = 32;
/** For a client that received GOAWAY to end its own side. */
const LINGER_MS = 5_000;

/**
 * Creates the HTTP/2 side.
 *
 * Extended CONNECT and server push stay off. Node itself ends sessions that flood resets
 * (CVE-2023-44487), continuations (CVE-2024-27983) or invalid frames; what it has no limit for is a
 * client that is slow, which is what the timers here are for.
 */
export function createHttp2Connections({ handler, timeouts }: ConnectionsOptions): Connections {
  const sessions = new Set<ServerHttp2Session>();
  let isDraining = false;
  const server = createServer({
    maxHeaderListPairs: HEADER_PAIRS_MAX,
    maxSessionMemory: SESSION_MEMORY_MEGABYTES,
    settings: {
      enablePush: false,
      enableConnectProtocol: false,
      maxConcurrentStreams: CONCURRENT_STREAMS_MAX,
      maxHeaderListSize: HEADER_BYTES_MAX,
    },
  });
  server.on('sessionError', ignore);
  server.on('request', (req: Http2ServerRequest, res: Http2ServerResponse) => {
    watchStream(req, res);
    handler(req, res);
  });

  return {
    accept(socket) {
      // An HTTP/2 connection is over when its client has ended it.
      socket.allowHalfOpen = false;
      // Node makes the session within the call below.
      server.once('session', (session) => {
        sessions.add(session);
        session.once('close', () => sessions.delete(session));
        // GOAWAY before the first stream: the client takes it elsewhere.
        if (isDraining) session.close();
        limitIdleTime(session, socket, {
          settingsMs: timeouts.headersMs,
          keepAliveMs: timeouts.keepAliveMs,
          lingerMs: LINGER_MS,
          stallMs: timeouts.requestMs,
        });
      });
      server.emit('connection', socket);
    },
    drain() {
      isDraining = true;
      // GOAWAY names the last stream that is answered; a client knows that the others were not processed.
      for (const session of sessions) session.close();
    },
    close() {
      server.close();
    },
  };

  /**
   * Ends a stream whose request does not end, or whose finished answer is not taken. An answer that
   * goes on for long because its handler does is not stalled.
   */
  function watchStream(req: Http2ServerRequest, res: Http2ServerResponse): void {
    const { stream } = req;
    let wasWaitingForClient = false;
    // Twice within the limit, so that an answer that ends just now is not taken for one that is left.
    const timer = setInterval(() => {
      const isWaitingForClient = stream.state.remoteClose !== 1 || res.writableEnded;
      if (isWaitingForClient && wasWaitingForClient) stream.close(constants.NGHTTP2_CANCEL);
      wasWaitingForClient = isWaitingForClient;
    }, timeouts.requestMs / 2);
    stream.once('close', () => clearInterval(timer));
    stream.on('error', ignore);
  }
}

/** The end of a session or stream shows in `close`. */
function ignore(): void {}

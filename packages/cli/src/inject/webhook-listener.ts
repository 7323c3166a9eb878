/**
 * The port of the webhook: HTTP/1.1 over TLS, with a certificate that can be exchanged.
 *
 * @module
 */

import type { Socket } from 'node:net';
import { createTlsFront, type TlsOptions } from '@sallyport/gateway/listeners';
import {
  type ClosedConnection,
  createHttp1Connections,
  createOnePort,
  type HttpHandler,
  type ServiceTimeouts,
} from '@sallyport/server/listener';

/** Where to listen, and with what. */
export interface WebhookListenerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly certificate: TlsOptions;
  readonly handler: HttpHandler;
  /** At once; by default {@link CONNECTIONS_MAX}. When there are more, the one that has been idle longest is closed. */
  readonly connectionsMax?: number;
  /** Called for each connection that is closed because there are more. */
  readonly onCrowded?: (closed: ClosedConnection) => void;
}

/** A running listener. */
export interface WebhookListener {
  readonly port: number;
  /** Shows another certificate from the next handshake on. No connection ends because of it. */
  readonly use: (certificate: TlsOptions) => void;
  /** Takes no connection any more, gives each one more answer, and resolves when the last is closed or time is up. */
  close(): Promise<void>;
}

/** API servers of one cluster keep a few connections each; probes add one now and then. */
export const CONNECTIONS_MAX = 256;
const TIMEOUTS: ServiceTimeouts = {
  firstBytesMs: 5_000,
  headersMs: 5_000,
  // The API server itself waits for thirty seconds at most.
  requestMs: 10_000,
  // The API server closes after 90 s; were it us, a pod could be lost to a connection that is just being closed.
  keepAliveMs: 120_000,
  drainMs: 10_000,
  drainRestMs: 2_000,
};

/**
 * Listens. Plain HTTP is closed at once. HTTP/2 is not offered: API servers keep connections either way, and what it would
 * add is only more that a stranger could send.
 *
 * @throws {SallyportError} `SP_PORT_IN_USE`, `SP_LISTEN_FAILED`.
 */
export async function listenForReviews({
  host,
  port: wanted,
  certificate,
  handler,
  connectionsMax = CONNECTIONS_MAX,
  onCrowded,
}: WebhookListenerOptions): Promise<WebhookListener> {
  const secured = new Set<Socket>();
  const serve: HttpHandler = (req, res) => {
    const { socket } = req;
    socket.setTimeout(0);
    res.once('close', () => port.used(socket));
    handler(req, res);
  };
  const http1 = createHttp1Connections({ handler: serve, timeouts: TIMEOUTS });
  const front = createTlsFront({
    ...certificate,
    handshakeMs: TIMEOUTS.headersMs,
    protocols: ['http/1.1'],
    accept(socket, _protocol, connection) {
      port.secured(connection, socket);
      secured.add(socket);
      // Until the first request it rests, as it does between two of them.
      socket.setTimeout(TIMEOUTS.headersMs);
      socket.on('error', ignore);
      socket.once('close', () => secured.delete(socket));
      http1.accept(socket);
    },
  });
  const port = createOnePort({
    firstBytesMs: TIMEOUTS.firstBytesMs,
    connectionsMax,
    onCrowded,
    accept(socket, protocol) {
      if (protocol === 'tls') front.accept(socket);
      else socket.destroy();
    },
  });
  const keys = { host: '--listen', port: '--listen' };
  try {
    return {
      port: await port.listen(wanted, host, keys),
      use: (certificate) => front.use(certificate),
      close,
    };
  } catch (cause) {
    http1.close();
    throw cause;
  }

  async function close(): Promise<void> {
    port.stopListening(TIMEOUTS.drainRestMs);
    http1.drain(secured);
    const timer = setTimeout(() => port.destroyAll(), TIMEOUTS.drainMs);
    await port.allClosed();
    clearTimeout(timer);
    http1.close();
  }
}

/** A reset shows in `close`. */
function ignore(): void {}

/**
 * Terminates TLS on connections that the listener has accepted.
 *
 * @module
 */

import type { Socket } from 'node:net';
import { createSecureContext, createServer, type TLSSocket } from 'node:tls';

/** Certificate and key, PEM. */
export interface TlsOptions {
  readonly key: string;
  readonly cert: string;
}

/** What {@link createTlsFront} needs. */
export interface TlsFrontOptions extends TlsOptions {
  /** Milliseconds for a whole handshake. */
  readonly handshakeMs: number;
  /** What clients may choose to speak; by default HTTP/2 and HTTP/1.1. */
  readonly protocols?: readonly ('h2' | 'http/1.1')[];
  /** Gets the plain side of a connection, what was agreed to be spoken on it, and the connection itself. */
  readonly accept: (socket: TLSSocket, protocol: 'h2' | 'http1', connection: Socket) => void;
}

const MIN_VERSION = 'TLSv1.2';

/**
 * Looks whether connections can be accepted with a certificate and key: all of the file is read, to the last certificate, and a key
 * is held to the strength that OpenSSL demands. Does not look at names and times.
 *
 * @returns What is wrong, in OpenSSL's own words, which hold nothing of the files; `undefined` when nothing is.
 */
export function findTlsFault({ key, cert }: TlsOptions): string | undefined {
  try {
    createSecureContext({ key, cert, minVersion: MIN_VERSION });
    return undefined;
  } catch (cause) {
    const { reason = 'unusable', code = 'no code' } = cause as { reason?: string; code?: string };
    return `${reason} (${code})`;
  }
}

/** Accepts TLS connections. */
export interface TlsFront {
  accept(socket: Socket): void;
  /**
   * Shows another certificate from the next handshake on; connections that are open stay as they are.
   *
   * @throws {Error} Where {@link findTlsFault} finds something.
   */
  use(certificate: TlsOptions): void;
  /** Closes connections whose handshake is not complete. */
  drain(): void;
}

/**
 * Creates the front. A client that offers no ALPN is taken to speak HTTP/1.1.
 *
 * The handshake has a deadline of its own, because Node's `handshakeTimeout` starts again with every
 * byte: one byte a second would hold a connection for ever.
 */
export function createTlsFront({
  key,
  cert,
  handshakeMs,
  protocols = ['h2', 'http/1.1'],
  accept,
}: TlsFrontOptions): TlsFront {
  const pendingByPeer = new Map<string, { settle: () => void; connection: Socket }>();
  const handshaking = new Set<Socket>();
  const server = createServer({
    key,
    cert,
    ALPNProtocols: [...protocols],
    minVersion: MIN_VERSION,
    handshakeTimeout: handshakeMs,
  });
  server.on('secureConnection', (socket) => {
    const pending = pendingByPeer.get(peerOf(socket));
    pending?.settle();
    accept(socket, socket.alpnProtocol === 'h2' ? 'h2' : 'http1', pending?.connection ?? socket);
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());

  return {
    accept(socket) {
      const peer = peerOf(socket);
      const timer = setTimeout(() => socket.destroy(), handshakeMs);
      const settle = () => {
        clearTimeout(timer);
        handshaking.delete(socket);
        if (pendingByPeer.get(peer)?.connection === socket) pendingByPeer.delete(peer);
      };
      handshaking.add(socket);
      pendingByPeer.set(peer, { settle, connection: socket });
      socket.once('close', settle);
      server.emit('connection', socket);
    },
    use(certificate) {
      server.setSecureContext({ ...certificate, minVersion: MIN_VERSION });
    },
    drain() {
      for (const socket of handshaking) socket.destroy();
    },
  };
}

/** The four-tuple, which both sides of the handshake show and no two open connections share. */
function peerOf(socket: Socket): string {
  return `${socket.localAddress}|${socket.localPort}|${socket.remoteAddress}|${socket.remotePort}`;
}

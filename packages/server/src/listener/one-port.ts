/**
 * One listening port for TLS, HTTP/2 without TLS, and HTTP/1.1: the first bytes decide.
 *
 * @module
 */

import { createServer, type Socket } from 'node:net';
import { createArrivals } from './arrivals.ts';
import {
  type ClosedConnection,
  CONNECTIONS_MAX,
  isBetweenRequests,
  makeRoom,
} from './crowded-port.ts';
import { type ListenKeys, listenFailure } from './listen-failure.ts';

/** What a connection speaks. */
export type WireProtocol = 'tls' | 'h2c' | 'http1';

/** Options of {@link createOnePort}. */
export interface OnePortOptions {
  /** Takes over a connection; the bytes read to detect the protocol are back in its buffer. */
  readonly accept: (socket: Socket, protocol: WireProtocol) => void;
  /** Milliseconds a connection may take to show its protocol. */
  readonly firstBytesMs: number;
  /** Connections at once; when there are more, the one that is missed least is closed. */
  readonly connectionsMax?: number;
  /** Called for each connection that is closed because there are more. */
  readonly onCrowded?: ((closed: ClosedConnection) => void) | undefined;
}

/** A port that sorts connections. */
export interface OnePort {
  /**
   * Starts listening; resolves to the port taken.
   *
   * @param port - 0 takes a free one.
   * @param keys - What the operator gives them by, for the message.
   * @throws {SallyportError} `SP_PORT_IN_USE`, `SP_LISTEN_FAILED`.
   */
  listen(port: number, host: string, keys?: ListenKeys): Promise<number>;
  /**
   * Starts listening on a Unix socket.
   *
   * @param path - Nothing may lie there.
   * @throws {SallyportError} As {@link OnePort.listen}.
   */
  listenAt(path: string): Promise<void>;
  /**
   * Takes no more connections.
   *
   * @param undecidedMs - Until those are closed that have not shown a protocol by then; their first
   *   request may be on its way. By default at once.
   */
  stopListening(undecidedMs?: number): void;
  /**
   * Takes note that the handshake on a TLS connection is complete, and of the socket that carries what is said within it: that one
   * shows whether the connection rests. Before, it has no request under way.
   */
  secured(this: void, connection: Socket, plain: Socket): void;
  /**
   * Takes note that a connection has been of use. Among those at rest, the one that was not for longest is closed first.
   *
   * @param plain - The socket that requests come from.
   */
  used(this: void, plain: Socket): void;
  /** Runs work of a request, after the connections that are just being accepted. */
  afterArrivals(this: void, work: () => void): void;
  /** The open ones. */
  connections(): Iterable<Socket>;
  /** Resolves once every connection is closed. */
  allClosed(): Promise<void>;
  destroyAll(): void;
}

/**
 * Connections that may wait to be taken; the kernel may be set to allow fewer (`net.core.somaxconn`). One more
 * is dropped, and its client tries again after a second, then after three. Node's 511 are too few for the
 * clients of a replica that has just ended.
 */
const BACKLOG = 4_096;
const TLS_HANDSHAKE = 0x16;
const PREFACE = Buffer.from('PRI');

/**
 * Detects the protocol from the first bytes of a connection.
 *
 * Neither a TLS record nor the HTTP/2 preface can be the beginning of an HTTP/1.1 request: no method
 * starts with a control character, and `PRI` is reserved.
 *
 * @returns `undefined` while the bytes could still become the HTTP/2 preface.
 *
 * @see [RFC 9113 section 3.4](https://www.rfc-editor.org/rfc/rfc9113#section-3.4) connection preface
 * @see [RFC 8446 section 5.1](https://www.rfc-editor.org/rfc/rfc8446#section-5.1) record type 22
 */
export function detectProtocol(bytes: Buffer): WireProtocol | undefined {
  if (bytes[0] === TLS_HANDSHAKE) return 'tls';
  const seen = Math.min(bytes.length, PREFACE.length);
  if (!bytes.subarray(0, seen).equals(PREFACE.subarray(0, seen))) return 'http1';
  return seen === PREFACE.length ? 'h2c' : undefined;
}

/** Creates the port. It does not listen yet. */
export function createOnePort({
  accept,
  firstBytesMs,
  connectionsMax = CONNECTIONS_MAX,
  onCrowded,
}: OnePortOptions): OnePort {
  const sockets = new Set<Socket>();
  const handshaking = new Set<Socket>();
  const plainOf = new WeakMap<Socket, Socket>();
  const connectionOf = new WeakMap<Socket, Socket>();
  const undecided = new Set<Socket>();
  const whenAllClosed: (() => void)[] = [];
  const arrivals = createArrivals();
  // Half-open, because a client may finish sending before it reads; http.Server expects it too.
  const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true }, sort);

  return {
    listen(port, host, keys) {
      return new Promise((resolve, reject) => {
        server.once('error', (cause) => reject(listenFailure(cause, { host, port }, keys)));
        server.listen({ port, host, backlog: BACKLOG }, () => {
          const address = server.address();
          resolve(typeof address === 'object' && address !== null ? address.port : port);
        });
      });
    },
    listenAt(path) {
      return new Promise((resolve, reject) => {
        server.once('error', (cause) => reject(listenFailure(cause, { path })));
        server.listen({ path, backlog: BACKLOG }, resolve);
      });
    },
    stopListening(undecidedMs = 0) {
      server.close();
      if (undecidedMs === 0) closeUndecided();
      else setTimeout(closeUndecided, undecidedMs).unref();
    },
    secured(connection, plain) {
      handshaking.delete(connection);
      plainOf.set(connection, plain);
      connectionOf.set(plain, connection);
    },
    used(plain) {
      const connection = connectionOf.get(plain) ?? plain;
      if (sockets.delete(connection)) sockets.add(connection);
    },
    afterArrivals: arrivals.afterThem,
    connections: () => sockets,
    allClosed() {
      if (sockets.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        whenAllClosed.push(resolve);
      });
    },
    destroyAll() {
      for (const socket of sockets) socket.destroy();
    },
  };

  function closeUndecided(): void {
    for (const socket of undecided) socket.destroy();
  }

  function isResting(connection: Socket): boolean {
    return handshaking.has(connection) || isBetweenRequests(plainOf.get(connection) ?? connection);
  }

  function sort(socket: Socket): void {
    arrivals.arrived();
    sockets.add(socket);
    undecided.add(socket);
    const timer = setTimeout(() => socket.destroy(), firstBytesMs);
    socket.on('error', ignore);
    socket.once('close', () => {
      clearTimeout(timer);
      undecided.delete(socket);
      handshaking.delete(socket);
      sockets.delete(socket);
      if (sockets.size === 0) for (const resolve of whenAllClosed.splice(0)) resolve();
    });
    socket.once('end', giveUp);
    let held: Buffer[] = [];
    socket.on('data', look);
    if (sockets.size > connectionsMax) {
      const closed = makeRoom(sockets, undecided, isResting);
      onCrowded?.(closed);
    }

    function look(bytes: Buffer): void {
      held.push(bytes);
      const seen = held.length === 1 ? bytes : Buffer.concat(held);
      const protocol = detectProtocol(seen);
      if (protocol === undefined) return;
      clearTimeout(timer);
      undecided.delete(socket);
      socket.off('data', look);
      socket.off('end', giveUp);
      // Given back only once, when decided: bytes given back are announced again, and to look at them
      // again each time would never end.
      socket.pause();
      held = [];
      if (protocol === 'tls') handshaking.add(socket);
      socket.unshift(seen);
      accept(socket, protocol);
      // HTTP/1.1 listens for data; the other two take the connection over, with what was given back.
      if (protocol === 'http1') socket.resume();
    }

    function giveUp(): void {
      socket.destroy();
    }
  }
}

/** A reset by the peer shows in `close`; without a listener it would end the process. */
function ignore(): void {}

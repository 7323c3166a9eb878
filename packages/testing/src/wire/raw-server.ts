/**
 * A server of connections, each under the hand of the test.
 *
 * @module
 */

import { createServer, type Socket } from 'node:net';
import { listenOnFreePort } from './listen.ts';

/** The running server. */
export interface RawServer {
  readonly port: number;
  /** Every connection it was given, in their order. */
  readonly sockets: readonly Socket[];
  /** Ends every connection, and listens no more. */
  close(): Promise<void>;
}

/**
 * Listens on a free port of the loopback.
 *
 * @param onData - Gets each piece that a connection sends, as text.
 */
export async function startRawServer(
  onData: (socket: Socket, text: string) => void,
): Promise<RawServer> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => onData(socket, bytes.toString()));
  });
  const port = await listenOnFreePort(server);
  return {
    port,
    sockets,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
